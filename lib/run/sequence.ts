/**
 * One run, from nothing to a history of each volume: prepare, steady state, fault, remedy, watch, first
 * image, heal, converge, second image, audit. Whatever database is tested, and on however many volumes,
 * this is the only such sequence. What happens to the node happens once; the rest is each volume's own.
 */
import { type Capability, EvidenceError } from '../core/index.ts';
import type { KubernetesTestbed, OpenedCluster } from './ports/cluster.ts';
import { type PodRef, historyVersion, type RunRecord, clientSides } from '../history/index.ts';
import type { Writers } from './workload.ts';
import { exportStep, Sightings } from '../judge/index.ts';
import { basisOf } from '../scenario/index.ts';
import { namesOf } from './custom.ts';
import { faultToConvergence } from './fault-to-convergence.ts';
import {
  capabilitiesFor,
  knownToHave,
  auditOf,
  volumeOf,
  type EventOptions,
  type Run,
  type RunEvent,
  type RunOptions,
  type Struck,
  type VolumeRunOptions,
  type Tested,
} from './run-context.ts';
import {
  each,
  mustHaveEnded,
  runObserved,
  whileObserved,
  type ObservedRun,
  type ObservedVolume,
} from './shell.ts';
import { waitUntil } from './moments.ts';

/** Throws as `recordVolumes` rejects; other trouble is in the history, and hence in the verdict. */
export async function recordRun<T extends KubernetesTestbed>(
  options: RunOptions,
  tested: Tested<T>,
): Promise<void> {
  mustHaveEnded(await recordVolumes(options, [options], tested));
}

/** A run of several volumes under one fault; resolves as `runObserved` does. */
export async function recordVolumes<T extends KubernetesTestbed>(
  options: EventOptions,
  volumes: readonly VolumeRunOptions[],
  tested: Tested<T>,
): Promise<readonly PromiseSettledResult<void>[]> {
  const { backend, database, custom, signal } = options;
  const parts = { ...custom, database };
  const needs = volumes.flatMap(({ scenario }) => capabilitiesFor(scenario, parts));
  return runObserved<OpenedCluster<T, Capability>, VolumeRunOptions & ObservedVolume>(
    {
      ...{ clock: backend.clock, signal },
      volumes: volumes.map((volume) => ({ ...volume, first: firstOf(options, volume) })),
      async open(opening) {
        const wanted = opening.map((one) => ({ ...one, database }));
        return knownToHave(await tested.open(backend, wanted), needs);
      },
    },
    (opened, { cluster }) => {
      const event = { ...options, cluster };
      const runs = opened.map((volume) => runOf(event, volume, volumes.length === 1, tested));
      return perform(event, runs);
    },
  );
}

function firstOf(
  { backend, database, custom }: EventOptions,
  { runId, seed, scenario, replay }: VolumeRunOptions,
): Omit<RunRecord, 't' | 'wall'> {
  const names = namesOf({ ...custom, database });
  return {
    type: 'run',
    schemaVersion: historyVersion,
    ...{ runId, seed, backend: backend.backend },
    basis: basisOf(backend, scenario),
    scenario,
    ...(names === undefined ? {} : { custom: names }),
    replay,
  };
}

function runOf<T extends KubernetesTestbed>(
  { database }: RunEvent,
  volume: VolumeRunOptions & ObservedRun<T>,
  isAlone: boolean,
  tested: Tested<T>,
): Run {
  const sightings = new Sightings(database);
  volume.recorder.subscribe((record) => sightings.see(record));
  const steps = tested.stepsOn({ ...volume, database, sightings });
  const shell = volume.shell.withTimes({ ...volume.scenario, leastMs: steps.leastMs });
  return { ...volume, shell, sightings, steps, isAlone, audits: [], begun: {} };
}

async function perform(event: RunEvent, runs: readonly Run[]): Promise<void> {
  const imaged = await whileObserved(runs, async (observed) => {
    const steady = await each(observed, 'run', (run) => untilSteady(event, run));
    const struck = await each(steady, 'run', (run) => onOneNode(run, steady));
    return faultToConvergence(event, struck);
  });
  await each(imaged, 'run', auditImages);
  await Promise.all(runs.map(end));
}

async function auditImages(run: Run): Promise<void> {
  const { shell, steps } = run;
  // Its audit may wait for those of many others, whose databases take the machine's time meanwhile.
  await shell.bounded('remove-database', async () => steps.cold?.removeDatabase());
  shell.enter('audit');
  if (run.isAlone) await auditOf(run, 'first');
  await Promise.all(run.audits);
  await auditOf(run, 'second');
  shell.enter('report');
}

async function end({ shell, steps, audits, begun, segments }: Run): Promise<void> {
  await Promise.all(audits);
  await shell.step('stop-writers', async () => {
    Object.assign(segments, await begun.writers?.stop());
  });
  await shell.step('export-writes', async (signal) => steps.cold?.exportWrites(signal), exportStep);
}

async function untilSteady(event: RunEvent, run: Run): Promise<Struck> {
  const { shell, steps, begun } = run;
  const writers = await shell.bounded('start-writers', () => startWriters(run));
  begun.writers = writers;
  shell.enter('steady');
  await shell.bounded('steady', (signal) => reachSteadyState(run, writers, signal));
  if (run.isAlone) await auditOf(run, 'steady');
  const victim = await steps.victim();
  return { ...run, writers, victim, volume: volumeOf(event, run, victim) };
}

/** One fault strikes one node: a database that is on another one would see none. */
function onOneNode(run: Struck, [first]: readonly { readonly victim: PodRef }[]): Promise<Struck> {
  const { victim } = run;
  if (victim.node === first?.victim.node) return Promise.resolve(run);
  throw new EvidenceError(
    'OTHER_VICTIM',
    `the database is on ${victim.node}: another node is struck`,
  );
}

/**
 * Often enough to show to the second how long a replaced server still answered; a client that writes
 * less than four times a second reads half as often as it writes, since nothing new is there.
 */
const readEveryMs = (rate: number | 'max'): number =>
  rate === 'max' ? 500 : Math.max(500, 2000 / rate);

/** Of the two clients that every run has: one on the victim's side of any partition, one outside. */
async function startWriters({ testbed, recorder, scenario, seed, steps }: Run): Promise<Writers> {
  const { load } = scenario;
  // An idle victim is left alone: it has nothing new that could be read.
  const readsNothing = load.rate === 0 || steps.writesOnly;
  const plans = clientSides.map((client) => ({
    ...{ client, connections: load.connections, rate: load.rate },
    ...(readsNothing ? {} : { readEveryMs: readEveryMs(load.rate) }),
  }));
  recorder.record({ type: 'workload', clients: plans });
  return testbed.startWriters(plans.map((plan) => ({ ...plan, seed })));
}

/** Before anything is broken, both clients commit, and all that serves is there. */
const withinMs = 60_000;

/** Resolves when that has been so for a while, and its image is kept. */
async function reachSteadyState(
  { testbed, scenario, steps }: Run,
  writers: Writers,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = testbed;
  const bothCommit = (): boolean => {
    const acked = writers.acked().filter(({ count }) => count > 0);
    return clientSides.every((side) => acked.some(({ client }) => client === side));
  };
  const isReady = (): boolean =>
    (scenario.load.rate === 0 || bothCommit()) && (steps.isWhole?.() ?? true);
  const deadlineMs = clock.nowMs() + withinMs;
  if (!(await waitUntil(clock, isReady, { deadlineMs, signal }))) {
    const what = 'a client committed nothing in 60 s, or not every server was there';
    throw new EvidenceError('NO_STEADY_STATE', what);
  }
  await clock.sleep(scenario.watch.warmup, signal);
  await steps.image('steady', signal);
}
