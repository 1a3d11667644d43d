/**
 * A run that is killed, or interrupted, at each point of its life on an engine of its own. Each test's
 * run is the next start after the one before it, and finds nothing of that one.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExperimentResult } from '../cluster/experiment.ts';
import { busyTimeoutMs, firstTimeoutMs, timeoutMs } from '../ended/ended-run.ts';
import { planImages } from '../../lib/kind/images/image-plan.ts';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';
import { cleanUp, runFlags, startOn, volumesOn } from './on-own-machine.ts';
import { ownMachine, processesOf, type OwnMachine } from './own-machine.ts';

let own: OwnMachine;
beforeAll(async () => (own = await ownMachine()), firstTimeoutMs);
afterAll(() => own[Symbol.asyncDispose](), timeoutMs);

/** What a run prints first at each point. */
const beforeCluster = [
  ['build', 'images: making'],
  ['create', 'creating the cluster'],
  ['nodes', 'kind: preparing nodes'],
  ['control plane', 'kind: starting control-plane'],
  ['join', 'kind: joining worker nodes'],
  ['network', 'connecting the nodes'],
  ['driver', 'starting the CSI driver'],
  ['database', 'MySQL starts on an empty volume'],
] as const;
const onKeptCluster = [
  ['steady', '— steady state'],
  ['fault', '— fault'],
  ['watch', '— remedy, and watch'],
  ['first image', '— first image'],
  ['heal', '— heal'],
  ['converge', '— converge'],
  ['second image', '— second image'],
  ['audit', '— audit both images'],
  ['report', '— verdict and report'],
] as const;
const keptFlags = [
  ...runFlags,
  '--keep',
  '--remedy',
  'none',
  '--horizon',
  '1s',
  '--converge',
  '20s',
];

/** Each thing that the last run left, by which the next start's own can be told from it. */
let before: readonly string[] = [];
let lastName = '';

const things = async (): Promise<string[]> => {
  const { processes: _, loops: __, ...rest } = await own.left();
  return Object.values(rest).flat();
};

async function endedAt(
  name: string,
  text: string,
  signal: NodeJS.Signals,
  flags: readonly string[] = runFlags,
): Promise<ExperimentResult> {
  const isKept = flags.includes('--keep');
  if (name === 'build') await removeDriver();
  const mark = `FD_POINT=${signal} ${name}`;
  const run = startOn(own, 'network-partition', flags, { env: { FD_POINT: `${signal} ${name}` } });
  try {
    await run.printed(text);
    await findsNothingOf(name, isKept);
  } catch (error) {
    // Else it holds the cluster, and every test after this one fails with it.
    run.signal('SIGKILL');
    throw new Error(`in ${name}, with\n${(await run.done).stderr}`, { cause: error });
  }
  const atMs = Date.now();
  run.signal(signal);
  const ended = await run.done;
  process.stderr.write(`${signal} in ${name}: ended after ${(Date.now() - atMs) / 1000} s\n`);
  // In the report all evidence is there: what it comes to stands.
  if (name !== 'report') expect([null, 3, 4], ended.stderr).toContain(ended.exitCode);
  if (ended.exitCode === 0) expect(ended.verdict?.complete).toBe(true);
  before = isKept ? [] : await things();
  lastName = mark;
  return ended;
}

/** Of the ones before this one. */
async function findsNothingOf(name: string, isKept: boolean): Promise<void> {
  expect(processesOf(lastName === '' ? 'FD_POINT=none' : lastName)).toEqual([]);
  const now = await things();
  if (!isKept && name !== 'build') {
    expect(now.filter((thing) => before.includes(thing))).toEqual([]);
  }
  // Its own, and nothing of the ones before it.
  if (isKept) expect((await volumesOn(own)).length).toBeLessThanOrEqual(1);
}

async function removeDriver(): Promise<void> {
  const { images } = planImages({ source: 'built', kubernetes: kubernetesDefault });
  await own.docker('image', 'rm', images.driver);
}

describe.each(['SIGKILL', 'SIGINT'] as const)('%s', (signal) => {
  test.each(beforeCluster)('in %s', { timeout: busyTimeoutMs }, async (name, text) => {
    await endedAt(name, text, signal);
    // Whoever can still act leaves nothing in the first place; a build is made anew by the next start.
    if (signal === 'SIGINT' && name !== 'build') expect(await own.left()).toEqual({});
  });

  test.each(onKeptCluster)('in %s', { timeout: busyTimeoutMs }, (name, text) =>
    endedAt(name, text, signal, keptFlags).then(() => undefined),
  );

  test('and nothing is left', { timeout: busyTimeoutMs }, async () => {
    await cleanUp(own);
    expect(await own.left()).toEqual({});
  });
});
