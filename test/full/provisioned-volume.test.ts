/**
 * A database's volume that the official external-provisioner made: in the order of most clusters, and
 * gone with its claim however the run ends.
 */
import { afterAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { startExperiment } from '../cluster/experiment.ts';

const cluster = 'provisioned';
const flags = [
  ...['--cluster', 'kind', '--cluster-name', cluster, '--keep', '--provision', 'dynamic'],
  ...['--grace', '10s', '--toleration', '10s', '--force-detach-after', '30s'],
];
const timeout = 12 * 60_000;
/** A cold image build may come first. */
const firstTimeout = 40 * 60_000;
const quiet = $({ quiet: true });

afterAll(
  () => quiet`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name ${cluster}`,
  timeout,
);

/** Of ours, in the API and on the backend. */
async function left(): Promise<string[]> {
  const kubectl = ['kubectl', '--kubeconfig=/etc/kubernetes/admin.conf', 'get', '-A', '-o', 'name'];
  const kinds = 'pv,pvc,storageclass,volumeattachment';
  const tool = ['node', '/app/lib/storage/csi/disk-tool.ts', 'status'];
  const objects = await quiet`docker exec fd-${cluster}-control-plane ${kubectl} ${kinds}`;
  const { stdout } = await quiet`docker exec fd-${cluster}-lab ${tool}`;
  const { volumes } = JSON.parse(stdout) as { volumes: { volume: string }[] };
  return [
    ...objects.stdout.split('\n').filter((line) => /pvc-|data-mysql|forcedetach|\/csi-/.test(line)),
    ...volumes.map(({ volume }) => volume),
  ];
}

test('provision, attach, stage, publish; safe where the storage fences; then nothing is left', {
  timeout: firstTimeout,
}, async () => {
  const run = startExperiment('network-partition', [...flags, '--disk', 'fenced']);
  const { verdict, stderr } = await run.done;
  expect(verdict?.verdict, stderr).toBe('safe');
  const { handle = '', volumeName, calls = [] } = verdict?.provisioning ?? {};
  expect(handle).toMatch(/^pvc-/);
  expect(volumeName).toBe(handle);
  const done = calls.filter(({ error }) => error === undefined).map(({ call }) => call);
  // The attacher may ask twice.
  expect([...new Set(done)].filter((call) => !/^(Validate|NodeGet)/.test(call))).toEqual([
    ...['CreateVolume', 'ControllerPublishVolume', 'NodeStageVolume', 'NodePublishVolume'],
  ]);
  expect(await left()).toEqual([]);
});

test('after kill -9 under the partition, the next run takes the volume away; Ctrl-C its own', {
  timeout,
}, async () => {
  const killed = startExperiment('network-partition', flags);
  await killed.printed(/watch what Kubernetes does/);
  killed.signal('SIGKILL');
  await killed.done;
  const [before = ''] = (await left()).filter((name) => name.startsWith('pvc-'));
  const next = startExperiment('network-partition', flags);
  await next.printed(/watch what Kubernetes does/);
  expect(await left()).not.toContain(before);
  next.signal('SIGINT');
  const { verdict, stderr } = await next.done;
  expect(verdict?.complete, stderr).toBe(false);
  expect(await left()).toEqual([]);
});
