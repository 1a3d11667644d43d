import { expect, test } from 'vitest';
import { renderCsiManifests } from './csi-manifests.ts';

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
