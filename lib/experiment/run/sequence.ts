/**
 * One run, from nothing to a history of each volume: prepare, steady state, fault, remedy, watch, first
 * image, heal, converge, second image, audit. Whatever database is tested, and on however many volumes,
 * this is the only such sequence. What happens to the node happens once; the rest is each volume's own.
 */
import type { Capability } from '../../capabilities.ts';
import type { KubernetesTestbed, OpenedCluster, PodRef } from '../../cluster/port.ts';
import type { Writers, WriterSpec } from '../../workload/port.ts';
import { historyVersion, type RunRecord, type SegmentList } from '../../history/events.ts';
import type { ClientPlan } from '../../history/client-records.ts';
import {
  auditOf,
  bounded,
  each,
  enter,
  type RunEvent,
  type EventOptions,
  type Run,
  type RunOptions,
  type VolumeRunOptions,
} from './run-context.ts';
import { namesOf } from './custom.ts';
import { exportStep } from '../evidence/completeness.ts';
import { faultToConvergence } from './fault-to-convergence.ts';
import { mustHaveEnded, runObserved, type ObservedRun, type Work } from './observed.ts';
import { basisOf, type Scenario } from '../scenario.ts';
import { Sightings } from './sightings.ts';
import type { Tested } from './steps.ts';
import { volumeOf, type Struck } from './struck.ts';
import { capabilitiesFor, knownToHave } from './needs.ts';
import { EvidenceError } from '../../errors.ts';
import { waitUntil } from './wait.ts';
import { clientSides } from '../../workload/ledger.ts';

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
  return runObserved<OpenedCluster<T, Capability>>(
    {
      ...{ clock: backend.clock, signal },
      volumes: volumes.map((volume) => ({ ...volume, first: firstOf(options, volume) })),
      async open(opening) {
        const asked = opening.map((one, at) => ({ ...wanted(volumes, at), ...one, database }));
        return knownToHave(await tested.open(backend, asked), needs);
      },
    },
    (opened, { cluster }) => {
      const event = { cluster, database, signal, ...(custom === undefined ? {} : { custom }) };
      const isAlone = volumes.length === 1;
      const runs = opened.map((one) =>
        runOf(event, { ...wanted(volumes, one.index), ...one }, isAlone, tested),
      );
      return sequence(event, runs);
    },
  );
}

function wanted(volumes: readonly VolumeRunOptions[], index: number): VolumeRunOptions {
  const found = volumes[index];
  if (found === undefined) throw new RangeError('nobody asked for such a volume');
  return found;
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
  event: RunEvent,
  volume: VolumeRunOptions & ObservedRun<T>,
  isAlone: boolean,
  tested: Tested<T>,
): Run {
  const { database } = event;
  const sightings = new Sightings(database);
  const steps = tested.stepsOn({ ...volume, database, sightings });
  const times = { ...volume.scenario, leastMs: steps.leastMs };
  return { ...volume, ...event, sightings, steps, times, isAlone, audits: [] };
}

function sequence(event: RunEvent, runs: readonly Run[]): Work {
  const begun = new Map(
    runs.map((run) => {
      const unsubscribe = run.recorder.subscribe((record) => run.sightings.see(record));
      return [run.recorder, { run, unsubscribe }];
    }),
  );
  return {
    whileObserved: () => untilSecondImage(event, runs),
    afterwards: () => each(runs, auditImages),
    async end({ recorder }) {
      const found = begun.get(recorder);
      if (found === undefined) return {};
      await Promise.all(found.run.audits);
      found.unsubscribe();
      return ended(found.run);
    },
  };
}

async function auditImages(run: Run): Promise<void> {
  // Its audit may wait for those of many others, whose databases take the machine's time meanwhile.
  await bounded(run, 'remove-database', async () => run.steps.cold?.removeDatabase());
  enter(run, 'audit');
  if (run.isAlone) await auditOf(run, 'first');
  await Promise.all(run.audits);
  await auditOf(run, 'second');
  enter(run, 'report');
}

async function ended(run: Run): Promise<SegmentList> {
  let written: SegmentList = {};
  await run.attempt('stop writers', async () => {
    written = (await bounded(run, 'stop-writers', async () => run.state.writers?.stop())) ?? {};
  });
  await run.attempt(exportStep, () =>
    bounded(run, 'export-writes', async (signal) => run.steps.cold?.exportWrites(signal)),
  );
  return written;
}

/** From the steady state on; the writers end before that image is taken. */
async function untilSecondImage(event: RunEvent, runs: readonly Run[]): Promise<void> {
  const steady = await each(runs, untilSteady);
  const struck = await each(steady, (run) => onOneNode(run, steady));
  const completed = await faultToConvergence(event, struck);
  await each(struck, async (run) => {
    if (!completed.includes(run)) {
      throw new EvidenceError('CUT_SHORT', 'the run ended before its first image');
    }
    const { steps, writers } = run;
    await bounded(run, 'stop-writers', () => writers.stop());
    enter(run, 'second-image');
    await bounded(run, 'second-image', (signal) => steps.image('second', signal));
  });
}

async function untilSteady(run: Run): Promise<Struck> {
  const { state, steps } = run;
  const writers = await bounded(run, 'start-writers', () => startWriters(run));
  state.writers = writers;
  enter(run, 'steady');
  await bounded(run, 'steady', (signal) => reachSteadyState(run, writers, signal));
  if (run.isAlone) await auditOf(run, 'steady');
  const victim = await steps.victim();
  return { ...run, writers, victim, volume: volumeOf(run, victim) };
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
 * Often enough to tell within which second a replaced server still answered; a client that writes
 * less than four times a second reads half as often as it writes, since nothing new is there.
 */
const readEveryMs = (rate: number | 'max'): number =>
  rate === 'max' ? 500 : Math.max(500, 2000 / rate);

async function startWriters({ testbed, recorder, scenario, seed, steps }: Run): Promise<Writers> {
  // An idle victim is left alone: it has nothing new that could be read.
  const readsNothing = scenario.rate === 0 || steps.writesOnly;
  const reads = readsNothing ? {} : { readEveryMs: readEveryMs(scenario.rate) };
  const specs = bothClients(scenario, seed, reads);
  recorder.record({ type: 'workload', clients: specs.map(planOf) });
  return testbed.startWriters(specs);
}

const planOf = ({ seed: _seed, ...plan }: WriterSpec): ClientPlan => plan;

/** Before anything is broken, both clients commit, and all that serves is there. */
const withinMs = 60_000;

/** Resolves when that has been so for a while, and its image is kept. */
async function reachSteadyState(
  { testbed, scenario, steps }: Run,
  writers: Writers,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = testbed;
  const isReady = (): boolean =>
    (scenario.rate === 0 || bothCommit(writers)) && (steps.isWhole?.() ?? true);
  const deadlineMs = clock.nowMs() + withinMs;
  if (!(await waitUntil(clock, isReady, { deadlineMs, signal }))) {
    const what = 'a client committed nothing in 60 s, or not every server was there';
    throw new EvidenceError('NO_STEADY_STATE', what);
  }
  await clock.sleep(scenario.warmupMs, signal);
  await steps.image('steady', signal);
}

/** The two clients that every run has: one on the victim's side of any partition, one outside. */
const bothClients = (
  { connections, rate }: Scenario,
  seed: string,
  reads: Pick<WriterSpec, 'readEveryMs'> = {},
): WriterSpec[] => clientSides.map((client) => ({ client, connections, rate, seed, ...reads }));

/** Each of the two had something acknowledged. */
function bothCommit(writers: Writers): boolean {
  const acked = writers.acked();
  return clientSides.every((side) =>
    acked.some(({ client, count }) => client === side && count > 0),
  );
}
