import { combined } from '../scenario/index.ts';
import type { KubernetesObject, V1DaemonSet } from '@kubernetes/client-node';
import { expect, test } from 'vitest';
import { driverName } from '../storage/csi/layout.ts';
import { readAttributes } from '../storage/csi/requests.ts';
import { InfrastructureError } from '../core/errors.ts';
import { parseScenario, type ScenarioInput } from '../scenario/scenario.ts';
import { workloads } from '../scenario/workload.ts';
import { fillManifest, renderCsiManifests, renderWorkload } from './objects.ts';
import { mysql } from '../mysql/database.ts';
import { soleScope } from './scope.ts';

interface Pod {
  readonly tolerations: { key: string; tolerationSeconds: number }[];
  readonly affinity: object;
  readonly containers: { image: string; args: string[] }[];
}

interface Controller {
  readonly spec: {
    readonly template: { readonly spec: Pod };
    readonly volumeClaimTemplates: { spec: { volumeName: string; accessModes: string[] } }[];
  };
}

interface Volume {
  readonly spec: {
    readonly csi: { readonly fsType: string; readonly volumeAttributes: Record<string, string> };
  };
}

const render = (
  change: Partial<ScenarioInput> = {},
  nodes?: readonly string[],
): Promise<KubernetesObject[]> => {
  const common = { name: 't', question: '?', fault: { kind: 'network-partition' } } as const;
  return renderWorkload({
    scope: soleScope(mysql),
    image: 'mysql:9.7',
    driverImage: 'driver:1',
    apiHost: '192.0.2.1',
    volumeHandle: 'fd-run-1',
    sizeBytes: 2 ** 31,
    ...(nodes === undefined ? {} : { nodes }),
    choice: parseScenario(combined({ ...common, expected: ['safe'] }, change)),
  });
};

const podOf = (controller: KubernetesObject | undefined): Pod =>
  (controller as unknown as Controller).spec.template.spec;

test('MySQL tolerates a lost node as long as the scenario says, and keeps its durability', async () => {
  const objects = await render();
  expect(objects.map(({ kind }) => kind)).toEqual(['PersistentVolume', 'Service', 'StatefulSet']);
  const { tolerations, containers } = podOf(objects[2]);
  expect(tolerations.map(({ key, tolerationSeconds }) => [key, tolerationSeconds])).toEqual([
    ['node.kubernetes.io/unreachable', 300],
    ['node.kubernetes.io/not-ready', 300],
  ]);
  expect(containers[0]?.image).toBe('mysql:9.7');
  expect(containers[0]?.args).toContain('--innodb-flush-log-at-trx-commit=1');
  expect(containers[0]?.args).toContain('--sync-binlog=1');
  expect(containers[0]?.args).toContain('--log-bin=binlog');
  expect(containers[0]?.args).toContain('--report-host=$(NODE_NAME)');
});

test('the volume is bound to the claim that the StatefulSet makes, for one node', async () => {
  const [volume, , set] = await render();
  const [claim] = (set as unknown as Controller).spec.volumeClaimTemplates;
  expect(claim?.spec.volumeName).toBe(volume?.metadata?.name);
  expect(volume).toMatchObject({
    spec: {
      accessModes: ['ReadWriteOnce'],
      claimRef: { name: 'data-mysql-0' },
      csi: { volumeHandle: 'fd-run-1', volumeAttributes: { detachMode: 'unfenced' } },
    },
  });
});

test('a pod keeps to the nodes of its pool', async () => {
  const [, , controller] = await render({}, ['w3', 'w4']);
  const required = {
    nodeSelectorTerms: [{ matchExpressions: [expect.objectContaining({ values: ['w3', 'w4'] })] }],
  };
  expect(podOf(controller)).toMatchObject({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
  });
  expect(podOf((await render())[2])).toMatchObject({ affinity: {} });
});

test.each(workloads)('%s runs the same pod on the same claim', async (workload) => {
  const [volume, other, controller] = await render({ workload: { kind: workload } });
  expect(podOf(controller)).toEqual(podOf((await render())[2]));
  if (workload.startsWith('stateful-set')) {
    const policy = workload === 'stateful-set' ? 'OrderedReady' : 'Parallel';
    expect(controller).toMatchObject({ spec: { podManagementPolicy: policy } });
    return;
  }
  expect(other).toMatchObject({
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'data-mysql-0' },
    spec: { volumeName: volume?.metadata?.name },
  });
  const type = workload === 'deployment-recreate' ? 'Recreate' : 'RollingUpdate';
  expect(controller).toMatchObject({ spec: { replicas: 1, strategy: { type } } });
});

test('the grace period and the finalizer of the pod are the scenario’s', async () => {
  const templateOf = async (change: Partial<ScenarioInput>): Promise<unknown> =>
    ((await render(change))[2] as unknown as Controller).spec.template;
  expect(await templateOf({})).toMatchObject({
    metadata: { finalizers: [] },
    spec: { terminationGracePeriodSeconds: 30 },
  });
  expect(await templateOf({ workload: { terminationGrace: 0, finalizer: true } })).toMatchObject({
    metadata: { finalizers: ['forcedetach.dev/held'] },
    spec: { terminationGracePeriodSeconds: 0 },
  });
});

test('the binary log can be off', async () => {
  const { args } = podOf((await render({ database: { binlog: 'off' } }))[2]).containers[0] ?? {
    args: [],
  };
  expect(args).toContain('--disable-log-bin');
  expect(args).not.toContain('--log-bin=binlog');
});

test('taking the file system away needs a privileged sidecar, and only that', async () => {
  const sidecar = async (
    selfFence: NonNullable<ScenarioInput['selfFence']>['kind'],
  ): Promise<string> => {
    const pod = podOf((await render({ selfFence: { kind: selfFence } })).at(-1));
    return JSON.stringify('initContainers' in pod ? pod.initContainers : undefined);
  };
  expect(await sidecar('lease')).not.toMatch(/privileged|--folder/);
  expect(await sidecar('lease-read-only')).toMatch(/--folder=\/var\/lib\/mysql.*"privileged":true/);
});

const gate: unknown = expect.stringContaining('until [ -e /self-fence/open ]');

test('a self-fence brings its identity, its sidecar, and a gate before the database', async () => {
  const objects = await render({ selfFence: { kind: 'lease', after: 25_000 } });
  const identity = ['ServiceAccount', 'Role', 'RoleBinding', 'Role', 'RoleBinding'];
  expect(objects.slice(0, 5).map(({ kind }) => kind)).toEqual(identity);
  const fenced = podOf(objects.at(-1));
  const plain = podOf((await render()).at(-1));
  const [mysql] = fenced.containers;
  expect(mysql).toMatchObject({
    args: plain.containers[0]?.args,
    command: ['sh', '-c', gate, 'mysql'],
  });
  expect(fenced).toMatchObject({
    shareProcessNamespace: true,
    automountServiceAccountToken: false,
    initContainers: [{ image: 'driver:1', restartPolicy: 'Always' }],
  });
  expect(JSON.stringify(fenced)).toContain('--after-ms=25000');
  expect(JSON.stringify(mysql)).toContain('"mountPath":"/var/lib/mysql"');
});

test('the kind of disk reaches the driver as attributes, all of them as text', async () => {
  const [volume] = await render({
    disk: { mode: 'ack-early', cutAfter: 7_000 },
    volume: { filesystem: 'ext4-mmp' },
  });
  const { csi } = (volume as unknown as Volume).spec;
  expect(csi.fsType).toBe('ext4');
  expect(readAttributes(csi.volumeAttributes)).toEqual({
    detachMode: 'ack-early',
    cutAfterMs: 7_000,
    transport: 'array',
    revocation: 'cut',
    watcherCheck: 'works',
    attachWhileBusy: 'refused',
    fileLocks: 'shared',
    flushes: 'honest',
    keepWrites: false,
    mkfs: 'mmp',
    detachAnswer: 'honest',
    stageAnswer: 'honest',
  });
});

test('a volume of many nodes, of one pod, of another file system', async () => {
  const [volume, , set] = await render({
    volume: { filesystem: 'xfs', accessMode: 'ReadWriteOncePod' },
  });
  expect(volume).toMatchObject({
    spec: { accessModes: ['ReadWriteOncePod'], csi: { driver: driverName, fsType: 'xfs' } },
  });
  const [claim] = (set as unknown as Controller).spec.volumeClaimTemplates;
  expect(claim?.spec.accessModes).toEqual(['ReadWriteOncePod']);
});

test('a shared directory is another driver’s', async () => {
  const [volume] = await render({
    disk: { mode: 'shared-file' },
    volume: { accessMode: 'ReadWriteMany' },
  });
  expect(volume).toMatchObject({ spec: { csi: { driver: 'files.forcedetach.dev' } } });
});

test.each(workloads)(
  'dynamic, %s: a class with the same attributes, and a claim of it without a volume',
  async (workload) => {
    const change = {
      workload: { kind: workload },
      disk: { mode: 'ack-early', cutAfter: 1500 },
      volume: { filesystem: 'xfs' },
    } as const;
    const [fixed] = await render(change);
    const [made, ...rest] = await render({
      ...change,
      volume: { ...change.volume, provision: 'dynamic' },
    });
    const { 'csi.storage.k8s.io/fstype': fsType, ...attributes } = (
      made as unknown as { parameters: Record<string, string> }
    ).parameters;
    const { csi } = (fixed as unknown as Volume).spec;
    expect({ fsType, attributes }).toEqual({
      fsType: csi.fsType,
      attributes: csi.volumeAttributes,
    });
    expect(made).toMatchObject({
      ...{ kind: 'StorageClass', provisioner: driverName, reclaimPolicy: 'Delete' },
      metadata: { name: 'forcedetach-mysql' },
    });
    const text = JSON.stringify(rest);
    expect(text).toContain('"storageClassName":"forcedetach-mysql","volumeName":""');
    expect(text).not.toContain('fd-run-1');
  },
);

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

test('node pods of the driver outlive others at a shutdown, unless they are to end beside them', async () => {
  const options = { driverImage: 'd', attacherImage: 'a', sharedDir: '/s' };
  const priorities = ([undefined, 'last', 'with-pods'] as const).map(async (driverEnds) => {
    const loops = { first: 128, count: 128 };
    const objects = await renderCsiManifests({ ...options, loops, driverEnds });
    const { spec } = objects.find(({ kind }) => kind === 'DaemonSet') as V1DaemonSet;
    return spec?.template.spec?.priorityClassName;
  });
  expect(await Promise.all(priorities)).toEqual([
    ...['system-node-critical', 'system-node-critical'],
    '',
  ]);
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

test('a name without a value is an error, but not in a comment', () => {
  expect(() => fillManifest('kind: ${KIND}', {})).toThrow(InfrastructureError);
  expect(fillManifest('# ${NAMES}\nkind: Pod', {})).toEqual([{ kind: 'Pod' }]);
});

test('a value may be a whole object', () => {
  const template = JSON.stringify({ spec: { args: ['--host=$(NODE_NAME)', 'a: b # c'] } });
  expect(fillManifest('template: ${T}', { T: template })).toEqual([
    { template: { spec: { args: ['--host=$(NODE_NAME)', 'a: b # c'] } } },
  ]);
});
