/** Which volumes are the provisioner's for our claim, and what the history is told of one. */
import { expect, test } from 'vitest';
import { driverName } from '../storage/csi/layout.ts';
import type { Lab } from './disk/containers.ts';
import type { KubeClients } from '../core/kubernetes-client.ts';
import { provisionedIn, provisioningOf } from './database.ts';
import { scopeBeside, soleScope } from './scope.ts';
import { mysql } from '../mysql/database.ts';

interface Made {
  readonly name?: string;
  readonly by?: string;
  readonly namespace?: string;
  readonly claim?: string;
  readonly uid?: string;
  readonly handle?: string;
}

const volumeOf = ({ name = 'pvc-1', by = driverName, claim = 'data-mysql-0', ...made }: Made) => ({
  metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': by } },
  spec: {
    claimRef: { namespace: made.namespace ?? 'default', name: claim, uid: made.uid ?? 'u' },
    csi: { driver: by, volumeHandle: made.handle ?? name },
  },
});

const clientsWith = (...made: readonly Made[]): KubeClients => {
  const volumes = made.map(volumeOf);
  const core = {
    listPersistentVolume: () => Promise.resolve({ items: volumes }),
    readPersistentVolume: ({ name }: { name: string }) =>
      Promise.resolve(volumes.find(({ metadata }) => metadata.name === name)),
    readNamespacedPersistentVolumeClaim: () =>
      Promise.resolve({ metadata: { uid: 'u' }, spec: { volumeName: 'pvc-1' } }),
  };
  return { core } as unknown as KubeClients;
};

test('only what our provisioner made for the database’s claim in its own namespace', async () => {
  const scope = scopeBeside(mysql, '7');
  const clients = clientsWith(
    { namespace: scope.namespace },
    { name: 'pvc-2' },
    { name: 'pvc-3', namespace: scope.namespace, claim: 'logs' },
    { name: 'pvc-4', namespace: scope.namespace, by: 'block.acme.example' },
  );
  const names = async (of: typeof scope): Promise<(string | undefined)[]> =>
    (await provisionedIn(clients, of)).map(({ metadata }) => metadata?.name);
  expect(await names(scope)).toEqual(['pvc-1']);
  expect(await names(soleScope(mysql))).toEqual(['pvc-2']);
});

const entry = (call: string, monoMs: number, more: object = {}): string =>
  JSON.stringify({
    ...{ monoMs, wallMs: 0, durationMs: 5, host: 'h', call, node: 'n', notes: {} },
    ...{ request: {}, ...more },
  });

const labWith = (...lines: readonly string[]): Lab =>
  ({ exec: () => Promise.resolve(lines.map((line) => `${line}\n`).join('')) }) as unknown as Lab;

const lab = labWith(
  entry('NodeStageVolume', 3000, { volume: 'pvc-1' }),
  entry('CreateVolume', 1500, { request: { name: 'pvc-1' }, error: 'UNAVAILABLE: busy' }),
  entry('CreateVolume', 2000, { request: { name: 'pvc-1' } }),
  // Its name is within another one's.
  entry('CreateVolume', 2100, { request: { name: 'pvc-11' } }),
);

test('the driver’s calls about it are told in their order, on the run’s clock, failed ones too', async () => {
  const told = await provisioningOf(clientsWith({}), {
    ...{ lab, scope: soleScope(mysql), originNs: 1_000_000_000n },
  });
  expect(told).toEqual({
    ...{ storageClass: 'forcedetach-mysql', claim: 'data-mysql-0', volumeName: 'pvc-1' },
    ...{ handle: 'pvc-1', by: driverName },
    calls: [
      { call: 'CreateVolume', node: 'n', t: 500, durationMs: 5, error: 'UNAVAILABLE: busy' },
      { call: 'CreateVolume', node: 'n', t: 1000, durationMs: 5 },
      { call: 'NodeStageVolume', node: 'n', t: 2000, durationMs: 5 },
    ],
  });
});

test.each<[string, Made]>([
  ['one of another claim of that name', { uid: 'older' }],
  ['one without a handle', { handle: '' }],
  ['one that nobody provisioned', { by: '' }],
])('refused: %s', async (_, made) => {
  const asked = { lab, scope: soleScope(mysql), originNs: 0n };
  await expect(provisioningOf(clientsWith(made), asked)).rejects.toMatchObject({
    code: 'NOT_PROVISIONED',
  });
});
