/**
 * A sweep as a Job on a real cluster comes to the very bytes of the sweep on this machine, also when
 * a pod is taken away from it, and nothing of it stays on the cluster.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { ensureCluster, type Cluster } from '../../lib/kind/cluster.ts';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';
import { ensureImages, ensureKind } from '../../lib/kind/images/ensure.ts';
import { sweepLabel } from '../../lib/sweep/on-cluster/namespace.ts';
import { mysql } from '../../lib/mysql/database.ts';

const minutes = 60_000;
const timeout = 5 * minutes;
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-on-cluster-'));
const say = (line: string): void => void process.stderr.write(`${line}\n`);
/** Two islands: a whole one and the beginning of the next. */
const size = ['--schedules', '44000', '--findings', '1', '--seed', 'cluster'];
let cluster: Cluster;

beforeAll(
  async () => {
    const images = await ensureImages({
      source: 'built',
      kubernetes: kubernetesDefault,
      onProgress: say,
    });
    const kind = await ensureKind();
    const named = { database: mysql, name: 'oc', runId: 'test-oc', workers: 0 };
    cluster = await ensureCluster({ ...named, images, kind, onProgress: say });
  },
  // A cold image build may come first.
  40 * minutes,
);
afterAll(async () => {
  await cluster?.release();
  rmSync(folder, { recursive: true });
}, timeout);
afterEach(async () => expect(await namespaces()).toEqual([]));

async function namespaces(): Promise<string[]> {
  const { core } = await cluster.kube();
  const { items } = await core.listNamespace({ labelSelector: sweepLabel });
  return items.map(({ metadata }) => metadata?.name ?? '');
}

interface RunningSweep {
  readonly printed: (text: RegExp) => Promise<void>;
  readonly done: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

/** Starts `npx zx experiments/sweep.mjs …args`; its notes lie in this test's folder. */
function startSweep(args: readonly string[]): RunningSweep {
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfigPath, XDG_STATE_HOME: folder };
  const zx = 'node_modules/zx/build/cli.js';
  const argv = [zx, 'experiments/sweep.mjs', ...args];
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const done = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, stderr }));
  });
  const printed = (text: RegExp): Promise<void> =>
    vi.waitFor(() => expect(stderr).toMatch(text), { timeout, interval: 200 });
  return { printed, done };
}

const onCluster = ['--on-cluster', '--images', 'built', '--out'];
const out = (name: string): string => join(folder, name);
const read = (name: string, file: string): string => readFileSync(join(out(name), file), 'utf8');

test('one seed, one sweep: here and there come to the same bytes, though a pod is taken away', {
  timeout: 2 * timeout,
}, async () => {
  const there = startSweep([...size, '--shards', '2', ...onCluster, out('there')]);
  await there.printed(/[12] running/);
  const { core } = await cluster.kube();
  const [namespace = ''] = await namespaces();
  // The larger shard's: the other one may end before it is gone.
  const labelSelector = 'batch.kubernetes.io/job-completion-index=0';
  await vi.waitFor(
    async () => {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector });
      const [pod] = items.filter(({ status }) => status?.phase === 'Running');
      await core.deleteNamespacedPod({ namespace, name: pod?.metadata?.name ?? 'none yet' });
    },
    { timeout, interval: 500 },
  );
  const ended = await there.done;
  say(ended.stderr);
  expect(ended.code).toBe(0);

  const here = await startSweep([...size, '--out', out('here')]).done;
  expect(here.code).toBe(0);
  for (const file of ['state.json', 'sweep.json']) {
    expect(read('there', file) === read('here', file), file).toBe(true);
  }
});
