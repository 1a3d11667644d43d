/**
 * One run, from nothing to a history: prepare, steady state, fault, remedy, watch, first image, heal,
 * converge, second image, audit. Whatever database is tested, this is the only such sequence.
 */
import type { KubernetesTestbed } from '../../cluster/port.ts';
import type { Writers, WriterSpec } from '../../workload/port.ts';
import { historyVersion, type SegmentList } from '../../history/events.ts';
import type { ClientPlan } from '../../history/client-records.ts';
import {
  auditOf,
  bounded,
  enter,
  type AttemptWork,
  type Run,
  type RunOptions,
} from './run-context.ts';
import { namesOf } from './custom.ts';
import { exportStep } from '../evidence/completeness.ts';
import { faultToConvergence } from './fault-to-convergence.ts';
import { runObserved, type ObservedOptions, type Work } from './observed.ts';
import { basisOf, type Scenario } from '../scenario.ts';
import { Sightings } from './sightings.ts';
import type { Tested } from './steps.ts';
import { EvidenceError } from '../../errors.ts';
import { waitUntil } from './wait.ts';
import { clientSides } from '../../workload/ledger.ts';

/** Throws as `runObserved` does; other trouble is in the history, and hence in the verdict. */
export async function recordRun<T extends KubernetesTestbed>(
  options: RunOptions,
  tested: Tested<T>,
): Promise<void> {
  const { backend, scenario, custom, seed, runId, folder, event, onProgress } = options;
  const names = custom === undefined ? undefined : namesOf(custom);
  const first = {
    type: 'run',
    schemaVersion: historyVersion,
    runId,
    seed,
    backend: backend.backend,
    basis: basisOf(backend.backend, scenario),
    scenario,
    ...(names === undefined ? {} : { custom: names }),
    replay: options.replay,
  } as const;
  const open: ObservedOptions<T>['open'] = (each) =>
    tested.open(backend, { ...each, scenario, runId, seed, folder, onProgress, event });
  await runObserved({ ...options, clock: backend.clock, first, open }, ({ testbed, recorder }) => {
    const sightings = new Sightings();
    const steps = tested.stepsOn({ testbed, recorder, scenario, folder, sightings, onProgress });
    const times = { ...scenario, leastMs: steps.leastMs };
    return sequence({ ...options, recorder, testbed, sightings, steps, times, audits: [] });
  });
}

function sequence(run: Run): Work {
  const { recorder, sightings } = run;
  const { cold } = run.steps;
  const unsubscribe = recorder.subscribe((record) => sightings.see(record));
  let writers: Writers | undefined;
  return {
    async whileObserved(attempt) {
      writers = await bounded(run, 'start-writers', () => startWriters(run));
      await untilSecondImage(run, writers, attempt);
    },
    async afterwards() {
      // Its audit may wait for those of many others, whose databases take the machine's time meanwhile.
      await bounded(run, 'remove-database', async () => cold?.removeDatabase());
      enter(run, 'audit');
      if (run.event === undefined) await auditOf(run, 'first');
      await Promise.all(run.audits);
      await auditOf(run, 'second');
      enter(run, 'report');
    },
    async end(attempt) {
      let written: SegmentList = {};
      await Promise.all(run.audits);
      unsubscribe();
      await attempt('stop writers', async () => {
        written = (await bounded(run, 'stop-writers', async () => writers?.stop())) ?? {};
      });
      await attempt(exportStep, () =>
        bounded(run, 'export-writes', async (signal) => cold?.exportWrites(signal)),
      );
      return written;
    },
  };
}

/** From the steady state on; the writers end before that image is taken. */
async function untilSecondImage(run: Run, writers: Writers, attempt: AttemptWork): Promise<void> {
  const { steps } = run;
  enter(run, 'steady');
  await bounded(run, 'steady', (signal) => reachSteadyState(run, writers, signal));
  if (run.event === undefined) await auditOf(run, 'steady');
  const victim = await steps.victim();
  await faultToConvergence(run, writers, victim, attempt);
  await bounded(run, 'stop-writers', () => writers.stop());
  enter(run, 'second-image');
  await bounded(run, 'second-image', (signal) => steps.image('second', signal));
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
