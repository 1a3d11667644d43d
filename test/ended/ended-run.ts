/** A run on kind that is ended from outside: what becomes of it, and when. */
import { expect } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import type { HistoryRecord } from '../../lib/history/records.ts';
import { openHistory } from '../../lib/history/reader.ts';
import {
  startExperiment,
  type ExperimentResult,
  type RunningExperiment,
} from '../cluster/experiment.ts';
import { leaseOf, stateOf } from '../cluster/machine-state.ts';
import { shortened } from '../cluster/short-run.ts';

/** One a worker of the test runner: files run beside each other. */
export const cluster = `ended-${process.env['VITEST_POOL_ID'] ?? '1'}`;
export const quick = [
  '--cluster',
  'kind',
  '--cluster-name',
  cluster,
  ...shortened,
  '--warmup',
  '3s',
];
export const kept = [...quick, '--keep'];
export const watching = /— remedy, and watch/;
export const timeoutMs = 10 * 60_000;
/** Beside other clusters: a run that needs two minutes took fifteen. */
export const busyTimeoutMs = 30 * 60_000;
/** A cold image build may come first. */
export const firstTimeoutMs = 40 * 60_000;

/** From the signal on. */
const healedWithinS = 15;
const endedWithinS = 30;

export const clean = (): Promise<unknown> =>
  $({ quiet: true })`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name ${cluster}`;
export const recordsOf = (folder: string): HistoryRecord[] => [...openHistory(folder).records()];

const errorsOf = (records: readonly HistoryRecord[]): string =>
  records.flatMap((record) => (record.type === 'error' ? record.message : [])).join('\n');

interface Ended {
  readonly healedS: number | undefined;
  readonly endedS: number;
  readonly errors: string;
  readonly stderr: string;
}

/** What comes of it: when the fault was given back and when the process ended, from `end` on. */
export async function endedBy(run: RunningExperiment, end: () => unknown): Promise<Ended> {
  const atMs = Date.now();
  end();
  const { folder, stderr, verdict } = await run.done;
  const endedS = (Date.now() - atMs) / 1000;
  const records = recordsOf(folder);
  const [healedAtMs] = records.flatMap((record) =>
    record.type === 'action' && record.actor === 'fault' && record.step === 'healed'
      ? [record.wall]
      : [],
  );
  const healedS = healedAtMs === undefined ? undefined : (healedAtMs - atMs) / 1000;
  if (verdict !== undefined) expect(verdict.complete, stderr).toBe(false);
  return { healedS, endedS, errors: errorsOf(records), stderr };
}

export function expectInTime(way: string, { healedS = 0, endedS, stderr }: Ended): void {
  process.stderr.write(`${way}: healed after ${healedS} s, ended after ${endedS} s\n`);
  expect(healedS, stderr).toBeLessThan(healedWithinS);
  expect(endedS, stderr).toBeLessThan(endedWithinS);
}

/** What its machine did took evidence away: that is no damage, and never as expected. */
export function expectNotGreen({ verdict, exitCode, stderr }: ExperimentResult): void {
  const said = verdict?.sentence ?? stderr.trimEnd().split('\n').slice(-4).join('\n');
  process.stderr.write(`exit ${exitCode}: ${said}\n`);
  expect([3, 4], stderr).toContain(exitCode);
  if (verdict !== undefined) expect(verdict.verdict, stderr).toBe('inconclusive');
}

/** Loop devices that a kept cluster still holds, and nodes that are not Ready. */
export async function brokenOn(lease: number): Promise<readonly string[]> {
  const held = (await stateOf(cluster, lease))['loops'] ?? [];
  const kubectl = ['kubectl', '--kubeconfig=/etc/kubernetes/admin.conf', 'get', 'nodes'];
  const notReady = async (): Promise<string[]> => {
    const { stdout } = await $({ quiet: true })`docker exec fd-${cluster}-control-plane ${kubectl}`;
    return stdout.split('\n').filter((line) => line.includes('NotReady'));
  };
  await expect.poll(notReady, { timeout: 60_000, interval: 1000 }).toEqual([]);
  return held;
}

/** `SIGHUP` stands for the signals; test/contract/ways-out.test.ts has them all, on the model. */
export async function hungUpIn(
  phase: string,
  text: RegExp,
  flags: readonly string[] = [],
): Promise<void> {
  const run = startExperiment('network-partition', [...kept, ...flags]);
  await run.printed(text);
  const lease = await leaseOf(cluster);
  const ended = await endedBy(run, () => run.signal('SIGHUP'));
  expect(ended.errors).toContain('INTERRUPTED: ended by SIGHUP');
  expectInTime(`SIGHUP in ${phase}, cluster kept`, ended);
  expect(await brokenOn(lease)).toEqual([]);
}
