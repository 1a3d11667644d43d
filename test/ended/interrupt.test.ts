/** However a run ends — Ctrl-C in any phase, kill -9 — the machine is as it was. */
import { afterAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { startExperiment } from '../cluster/experiment.ts';
import { leaseOf, stateOf } from '../cluster/machine-state.ts';
import { shortened } from '../cluster/short-run.ts';

const quick = ['--cluster', 'kind', '--cluster-name', 'interrupt', ...shortened, '--warmup', '3s'];
const timeout = 8 * 60_000;
/** A cold image build may come first. */
const firstTimeout = 40 * 60_000;

const clean = (): Promise<unknown> =>
  $({ quiet: true })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name interrupt`;
afterAll(clean, timeout);

test('Ctrl-C while the cluster comes up leaves nothing', { timeout: firstTimeout }, async () => {
  const run = startExperiment('node-crash', quick);
  await run.printed('joining worker nodes');
  const lease = await leaseOf('interrupt');
  run.signal('SIGINT');
  const { exitCode, verdict } = await run.done;
  expect(exitCode).toBe(4);
  expect(verdict).toBeUndefined();
  expect(await stateOf('interrupt', lease)).toEqual({});
});

test('Ctrl-C while the node is cut off heals it', { timeout }, async () => {
  await interruptedIn(/watch what Kubernetes does/);
  expect(await leftByAKeptCluster()).toEqual([]);
  const nodes = await $({
    quiet: true,
  })`docker exec fd-interrupt-control-plane kubectl --kubeconfig=/etc/kubernetes/admin.conf get nodes --no-headers`;
  expect(nodes.stdout).not.toContain('NotReady');
});

test('Ctrl-C in the audit leaves no mysqld and no mount', { timeout }, async () => {
  await interruptedIn(/audit both images/, '--remedy', 'none', '--horizon', '1s');
  expect(await leftByAKeptCluster()).toEqual([]);
});

/** Its last run is also Ctrl-C in the steady state: it leaves a kept cluster whole and idle. */
test('after kill -9 with agents that stand still, the next start mends a kept cluster', {
  timeout,
}, async () => {
  const kept = [...quick, '--keep'];
  const killed = startExperiment('kubelet-stall', kept);
  await killed.printed(/watch what Kubernetes does/);
  expect(await stalledKubelets()).toHaveLength(1);
  killed.signal('SIGKILL');
  await killed.done;
  const next = startExperiment('api-partition', kept);
  await next.printed(/watch what Kubernetes does/);
  expect(await stalledKubelets()).toEqual([]);
  next.signal('SIGKILL');
  await next.done;
  await interruptedIn(/steady state/);
  expect(await leftByAKeptCluster()).toEqual([]);
  expect(await stalledKubelets()).toEqual([]);
  for (const node of workers) {
    const rules = await $({ quiet: true })`docker exec ${node} iptables -S`;
    expect(rules.stdout).not.toContain('FORCEDETACH');
  }
});

test('after kill -9 while requests wait for the disk, the next start takes everything away', {
  timeout,
}, async () => {
  await clean();
  const killed = startExperiment('network-partition', [...quick, '--link', 'stalls']);
  await killed.printed(/watch what Kubernetes does/);
  // From here on the victim's processes can't be killed, nor its container.
  await expect.poll(heldRequests, { timeout: 30_000, interval: 500 }).toBeGreaterThan(0);
  const lease = await leaseOf('interrupt');
  killed.signal('SIGKILL');
  await killed.done;
  const next = startExperiment('network-partition', quick);
  await next.printed('creating the cluster');
  next.signal('SIGINT');
  await next.done;
  expect(await stateOf('interrupt', lease)).toEqual({});
});

const workers = ['fd-interrupt-worker', 'fd-interrupt-worker2'] as const;

/** Nodes whose kubelet was stopped by a signal. */
async function stalledKubelets(): Promise<string[]> {
  const stalled: string[] = [];
  for (const node of workers) {
    const command = 'cut -d " " -f 3 /proc/$(pidof kubelet)/stat';
    const { stdout } = await $({ quiet: true })`docker exec ${node} sh -c ${command}`;
    if (stdout.trim() === 'T') stalled.push(node);
  }
  return stalled;
}

async function heldRequests(): Promise<number> {
  const tool = ['node', '/app/lib/storage/csi/disk-tool.ts', 'status'];
  const { stdout } = await $({ quiet: true })`docker exec fd-interrupt-lab ${tool}`;
  const { volumes } = JSON.parse(stdout) as { volumes: { devices: { held: number }[] }[] };
  return volumes.flatMap(({ devices }) => devices).reduce((sum, { held }) => sum + held, 0);
}

/** Runs on a kept cluster until that text, presses Ctrl-C, and expects an orderly end. */
async function interruptedIn(phase: RegExp, ...flags: string[]): Promise<void> {
  const run = startExperiment('network-partition', [...quick, '--keep', ...flags]);
  await run.printed(phase);
  run.signal('SIGINT');
  const { verdict, stderr } = await run.done;
  // Damage that was proven by then stands; nothing else may be concluded.
  expect(verdict?.complete, stderr).toBe(false);
  expect(['inconclusive', 'lost', 'corrupt'], stderr).toContain(verdict?.verdict);
}

/** Loop devices of the cluster's lease that something still holds: all else belongs to a kept cluster. */
async function leftByAKeptCluster(): Promise<readonly string[]> {
  return (await stateOf('interrupt', await leaseOf('interrupt')))['loops'] ?? [];
}
