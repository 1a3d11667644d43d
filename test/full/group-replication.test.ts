/**
 * A replication group on a real kind cluster, its primary's node cut off, frozen and crashed: no
 * acknowledged commit may be missing, and outside clients must be served long before Kubernetes
 * would have moved a single instance. What was measured once stands in docs/results/group-replication.md.
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { groupVerdictSchema, type GroupVerdict } from '../../lib/judge/group/verdict.ts';
import { watching } from '../ended/ended-run.ts';
import { startExperiment } from '../cluster/experiment.ts';
import { machineState } from '../cluster/machine-state.ts';

const clusterName = 'group';
const runMs = 15 * 60_000;
/** A cold image build may come first. */
const firstRunMs = 40 * 60_000;
const zx = $({ quiet: true, nothrow: true });

const before = await machineState();

interface Result {
  readonly verdict: GroupVerdict;
  readonly exitCode: number | null;
  readonly stderr: string;
}

async function run(...args: readonly string[]): Promise<Result> {
  const folder = join(mkdtempSync(join(tmpdir(), 'forcedetach-')), 'run');
  const asked = [...args, '--cluster-name', clusterName, '--keep', '--out', folder];
  const { exitCode, stderr } =
    await zx`node_modules/.bin/zx experiments/group-replication.mjs ${asked}`;
  expect(stderr).toContain(folder);
  const written: unknown = JSON.parse(readFileSync(join(folder, 'verdict.json'), 'utf8'));
  return { verdict: groupVerdictSchema.parse(written), exitCode, stderr };
}

/** Stock timers move a single instance after more than 5 min at the earliest. */
const soonMs = 60_000;

function expectKept({ verdict, exitCode, stderr }: Result): void {
  expect(verdict.incompleteBecause, stderr).toEqual([]);
  expect(verdict).toMatchObject({ verdict: 'safe', basis: 'measured', lost: 0 });
  expect(exitCode).toBe(0);
  expect(verdict.acked).toBeGreaterThan(500);
  expect(verdict.availability).toMatchObject({ recovered: true });
  expect(verdict.availability.downtimeMs).toBeLessThan(soonMs);
  expect(verdict.victim.acked).toBe(0);
  expect(verdict.members.map(({ agrees }) => agrees)).not.toContain(false);
}

test('cut off: nothing is lost, the old primary writes no more and reads stale', {
  timeout: firstRunMs,
}, async () => {
  const result = await run();
  expectKept(result);
  expect(result.verdict.availability.rejoined).toBe(true);
  expect(result.verdict.victim.staleReads).toBeGreaterThan(0);
});

test('frozen and thawed: the same, with EVENTUAL, after a run that was killed in its watch', {
  timeout: 2 * runMs,
}, async () => {
  const killed = startExperiment('group-replication', ['--cluster-name', clusterName, '--keep']);
  await killed.printed(watching);
  killed.signal('SIGKILL');
  await killed.done;
  const result = await run('--fault', 'freeze', '--consistency', 'EVENTUAL');
  expectKept(result);
  // The dead run's group is gone before a new one is made.
  expect(result.stderr).toContain(`reusing the cluster ${clusterName}`);
  expect(result.stderr).not.toContain('cannot be mended');
});

test('crashed: the same, and the old primary joins again', { timeout: runMs }, async () => {
  const result = await run('--fault', 'node-crash');
  expectKept(result);
  expect(result.verdict.availability.rejoined).toBe(true);
});

test('nothing is left behind', { timeout: runMs }, async () => {
  await zx`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name ${clusterName}`;
  expect(await machineState()).toEqual(before);
});
