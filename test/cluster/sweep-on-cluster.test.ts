/**
 * A sweep as a Job on a real cluster comes to the very bytes of the sweep on this machine, also when
 * a pod is taken away from it; however it ends, nothing of it stays on the cluster.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { $ } from 'zx';
import { ensureCluster, type Cluster } from '../../lib/cluster/kind/cluster.ts';
import type { DiskMode } from '../../lib/disk-kinds.ts';
import { ensureImages } from '../../lib/images/ensure.ts';
import { ensureKind } from '../../lib/images/kind-binary.ts';
import { defaultKubernetesVersion } from '../../lib/images/versions.ts';
import { accessTo } from '../../lib/sweep/on-cluster/access.ts';
import { sweepLabel } from '../../lib/sweep/on-cluster/job.ts';
import { sweepOnCluster } from '../../lib/sweep/on-cluster/run.ts';
import { newSweep } from '../../lib/sweep/sweep.ts';

const minutes = 60_000;
const timeout = 5 * minutes;
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-on-cluster-'));
const say = (line: string): void => void process.stderr.write(`${line}\n`);
/** Two islands: a whole one and the beginning of the next. */
const size = ['--schedules', '44000', '--findings', '1', '--seed', 'cluster'];
/** Too many to end while a test looks. */
const long = ['--schedules', '4000000', '--shards', '2', '--seed', 'long'];
let cluster: Cluster;
let image: string;

beforeAll(
  async () => {
    const kubernetesVersion = defaultKubernetesVersion;
    const images = await ensureImages({ source: 'built', kubernetesVersion, onProgress: say });
    image = images.driver;
    const kind = await ensureKind();
    const named = { name: 'oc', runId: 'test-oc', workers: 0 };
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
  readonly signal: (name: NodeJS.Signals) => void;
  readonly done: Promise<{ readonly code: number | null; readonly stderr: string }>;
}

/** Starts `npx zx experiments/sweep.mjs …args`; its notes lie in this test's folder. */
function startSweep(args: readonly string[], kubeconfig = cluster.kubeconfigPath): RunningSweep {
  const env = { ...process.env, KUBECONFIG: kubeconfig, XDG_STATE_HOME: folder };
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
  return { printed, done, signal: (name) => void child.kill(name) };
}

const onCluster = ['--on-cluster', '--images', 'built', '--out'];
const out = (name: string): string => join(folder, name);
const read = (name: string, file: string): string => readFileSync(join(out(name), file), 'utf8');

test('one seed, one sweep: here and there come to the same bytes, though a pod is taken away', {
  timeout: 2 * timeout,
}, async () => {
  const there = startSweep([...size, '--shards', '2', ...onCluster, out('there')]);
  await there.printed(/1 running|2 running/);
  const { core } = await cluster.kube();
  const [namespace = ''] = await namespaces();
  const { items } = await core.listNamespacedPod({ namespace });
  const running = items.find(({ status }) => status?.phase === 'Running');
  await core.deleteNamespacedPod({ namespace, name: running?.metadata?.name ?? '' });
  const ended = await there.done;
  say(ended.stderr);
  expect(ended.code).toBe(0);

  const here = await startSweep([...size, '--out', out('here')]).done;
  expect(here.code).toBe(0);
  for (const file of ['state.json', 'sweep.json']) {
    expect(read('there', file) === read('here', file), file).toBe(true);
  }
});

test('Ctrl-C takes everything away', { timeout }, async () => {
  const run = startSweep([...long, ...onCluster, out('interrupted')]);
  await run.printed(/[12] running/);
  expect(await namespaces()).toHaveLength(1);
  run.signal('SIGINT');
  const { code, stderr } = await run.done;
  expect({ code, stderr }).toMatchObject({
    code: 4,
    stderr: expect.stringContaining('INTERRUPTED'),
  });
});

test('after kill -9 the clean-up finds the cluster and takes everything away', {
  timeout,
}, async () => {
  const run = startSweep([...long, ...onCluster, out('killed')]);
  await run.printed(/[12] running/);
  run.signal('SIGKILL');
  await run.done;
  const [left] = await namespaces();
  expect(left).toMatch(/^forcedetach-sweep-/);
  const env = { ...process.env, XDG_STATE_HOME: folder, KUBECONFIG: '' };
  const clean = await $({ env, quiet: true })`node_modules/.bin/zx experiments/clean.mjs`;
  expect(clean.stdout).toContain(`Removed: ${left}`);
});

test('a shard that fails for good makes the sweep inconclusive, and its last words are told', {
  timeout,
}, async () => {
  vi.stubEnv('XDG_STATE_HOME', folder);
  const said: string[] = [];
  const failing = sweepOnCluster({
    access: await accessTo(undefined, cluster.kubeconfigPath),
    // A plan that no pod can play.
    from: newSweep('bad', 'no such disk' as DiskMode),
    untilIndex: 100,
    shards: 1,
    image,
    signal: new AbortController().signal,
    onShard: () => undefined,
    say: (line) => said.push(line),
  });
  await expect(failing).rejects.toMatchObject({
    code: 'SHARD_FAILED',
    exitCode: 3,
    cause: { cause: { message: expect.stringContaining('SCHEDULE_FAILED') } },
  });
  vi.unstubAllEnvs();
});

test('who may not do what a sweep does is told so, and nothing is made', { timeout }, async () => {
  const { core, config } = await cluster.kube();
  await core.createNamespacedServiceAccount({
    namespace: 'default',
    body: { metadata: { name: 'nobody' } },
  });
  const { status } = await core.createNamespacedServiceAccountToken({
    ...{ namespace: 'default', name: 'nobody' },
    body: { spec: { audiences: [] } },
  });
  const kubeconfig = join(folder, 'nobody.json');
  writeFileSync(kubeconfig, kubeconfigOf(config.getCurrentCluster(), status?.token ?? ''));
  const { code, stderr } = await startSweep([...size, ...onCluster, out('nobody')], kubeconfig)
    .done;
  expect(code).toBe(4);
  expect(stderr).toMatch(/CLUSTER_FORBIDDEN: .*create namespaces/);
  expect(stderr).toContain('kubectl --context nobody auth can-i create namespaces');
});

const kubeconfigOf = (
  target: { readonly server: string; readonly caData?: string } | null,
  token: string,
): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'nobody',
    contexts: [{ name: 'nobody', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: { token } }],
    clusters: [
      {
        name: 'c',
        cluster: { server: target?.server, 'certificate-authority-data': target?.caData },
      },
    ],
  });
