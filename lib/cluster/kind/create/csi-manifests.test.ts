import { expect, test } from 'vitest';
import { renderCsiManifests } from '../objects.ts';

const rendered = await renderCsiManifests({
  driverImage: 'forcedetach/driver:1',
  attacherImage: 'forcedetach/attacher:1',
  loops: { first: 128, count: 128 },
  sharedDir: '/var/lib/forcedetach',
});

test('every object has its values filled in', () => {
  expect(rendered.map(({ kind }) => kind)).toEqual([
    'CSIDriver',
    'CSIDriver',
    'ServiceAccount',
    'ClusterRole',
    'ClusterRoleBinding',
    'Deployment',
    'DaemonSet',
  ]);
  expect(JSON.stringify(rendered)).not.toContain('${');
  expect(rendered[0]).toMatchObject({ metadata: { name: 'disk.forcedetach.dev' } });
  expect(rendered[1]).toMatchObject({
    metadata: { name: 'files.forcedetach.dev' },
    spec: { attachRequired: false },
  });
});

test('the controller gets the cluster’s loop devices and both images', () => {
  const deployment = rendered.find(({ kind }) => kind === 'Deployment');
  expect(deployment).toMatchObject({
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'attacher', image: 'forcedetach/attacher:1' },
            {
              name: 'driver',
              image: 'forcedetach/driver:1',
              env: expect.arrayContaining([{ name: 'FORCEDETACH_LOOPS', value: '128-247' }]),
            },
          ],
        },
      },
    },
  });
});

test('a provisioner stands beside the attacher where volumes are to be made, with its rights', async () => {
  const objects = await renderCsiManifests({
    ...{ driverImage: 'd', attacherImage: 'a', provisionerImage: 'p', sharedDir: '/s' },
    loops: { first: 128, count: 128 },
  });
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
    spec: {
      template: { spec: { containers: { name: string; image: string; volumeMounts: object }[] } };
    };
  };
  const { containers } = deployment.spec.template.spec;
  expect(containers.map(({ name, image }) => [name, image])).toEqual([
    ...[
      ['attacher', 'a'],
      ['driver', 'd'],
      ['provisioner', 'p'],
    ],
  ]);
  expect(containers[2]?.volumeMounts).toEqual(containers[0]?.volumeMounts);
  expect(objects.map(({ metadata }) => metadata?.name)).toContain('forcedetach-csi-provisioner');
  expect(JSON.stringify(rendered)).not.toContain('provisioner');
});
