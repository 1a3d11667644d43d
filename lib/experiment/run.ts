/**
 * One run, from nothing to a verdict: prepare, steady state, fault, remedy, watch, first image,
 * heal, converge, second image, audit. The history is its only output; the verdict is read from it.
 */
import type { Backend, PodRef, Testbed, Writers } from '../cluster/port.ts';
import { EvidenceError } from '../errors.ts';
import { faultOf } from '../faults/index.ts';
import {
  historyVersion,
  type ImageLabel,
  type PhaseName,
  type SegmentList,
} from '../history/events.ts';
import { openHistory } from '../history/reader.ts';
import { openRecorder, type RunRecorder } from '../history/recorder.ts';
import { assembleVerdict } from './assemble.ts';
import { attempting, type Attempt } from './attempt.ts';
import { bothClients } from './both-clients.ts';
import { boundsMs, within } from './bounds.ts';
import { exportStep } from './completeness.ts';
import { converge } from './converge.ts';
import { watchWhile } from './moments.ts';
import { audit, type ImageRun, takeImage } from './images.ts';
import { letOthersServe, moveBack } from './move-back.ts';
import { prepare } from './prepare.ts';
import { recreate } from './recreate.ts';
import { RemedyRun } from './remedy-run.ts';
import { basisOf, type Scenario } from './scenario.ts';
import { Sightings } from './sightings.ts';
import { auditSteadyState, reachSteadyState } from './steady-state.ts';
import type { Verdict } from './verdict.ts';
import { watch } from './watch.ts';

export interface RunOptions {
  readonly scenario: Scenario;
  readonly seed: string;
  readonly runId: string;
  /** The run's folder; it exists. */
  readonly folder: string;
  readonly backend: Backend;
  /** Paste-ready command that repeats this run. */
  readonly replay: string;
  readonly onProgress: (line: string) => void;
  readonly onPhase: (phase: PhaseName) => void;
  readonly signal: AbortSignal;
  /** Resolves when all runs that share this one's fault event have come so far. Default: alone. */
  readonly meet?: (gate: 'fault' | 'heal' | 'undo') => Promise<void>;
}

interface Run extends RunOptions, ImageRun {
  readonly recorder: RunRecorder;
  readonly sightings: Sightings;
  /** Audits that fall into the waits of a shared event: one after the other they take minutes. */
  readonly audits: Promise<unknown>[];
}

/** As `recordScenario`; resolves to the verdict that its history gives. */
export async function runScenario(options: RunOptions): Promise<Verdict> {
  await recordScenario(options);
  return assembleVerdict(openHistory(options.folder));
}

/**
 * Throws ForcedetachError only when nothing could be set up, or `HISTORY_UNWRITABLE` after the heal
 * and the clean-up; other trouble is in the history, and hence in the verdict.
 */
export async function recordScenario(options: RunOptions): Promise<void> {
  const { backend, scenario, seed, runId, folder, onProgress, signal } = options;
  const recorder = openRecorder(folder, backend.clock);
  recorder.record({
    type: 'run',
    schemaVersion: historyVersion,
    runId,
    seed,
    backend: backend.backend,
    basis: basisOf(backend.backend, scenario),
    scenario,
    replay: options.replay,
  });
  enter({ ...options, recorder }, 'prepare');
  try {
    const testbed = await prepare(backend, {
      ...{ scenario, runId, seed, folder, recorder, onProgress, signal },
    });
    const { timers, versions, nodes } = testbed;
    recorder.record({ type: 'setup', timers, versions, nodes });
    const sightings = new Sightings();
    const takenAtMs = new Map();
    await perform({ ...options, recorder, testbed, sightings, takenAtMs, audits: [] });
  } finally {
    recorder.close();
  }
  if (recorder.failure !== undefined) throw unwritable(folder, recorder.failure);
}

function unwritable(folder: string, cause: unknown): EvidenceError {
  return new EvidenceError('HISTORY_UNWRITABLE', `not all could be recorded: ${String(cause)}`, {
    hint: 'the fault was healed all the same; make room, then look at what was recorded',
    command: `npx zx experiments/report.mjs ${folder}`,
    cause,
  });
}

function enter(run: Pick<Run, 'recorder' | 'onPhase'>, phase: PhaseName): void {
  run.recorder.record({ type: 'phase', phase });
  run.onPhase(phase);
}

/** A phase, or a part of one, within its bound; where that passes it is given up, named in the error. */
function bounded<T>(
  { testbed, scenario }: Run,
  what: keyof typeof boundsMs,
  work: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const deadlineMs = testbed.clock.nowMs() + boundsMs[what](scenario);
  const bound = { what, deadlineMs, ...(signal === undefined ? {} : { signal }) };
  return within(testbed.clock, bound, work);
}

/** Whatever happens in here ends in the history, and the testbed is closed. */
async function perform(run: Run): Promise<void> {
  const { testbed, recorder, sightings } = run;
  const unsubscribe = recorder.subscribe((record) => sightings.see(record));
  const attempt = attempting(recorder);
  let writers: Writers | undefined;
  let written: SegmentList = {};
  await attempt('run', async () => {
    const observers = await bounded(run, 'observe', () => testbed.observe(recorder));
    try {
      writers = await bounded(run, 'start-writers', () => startWriters(run));
      await untilSecondImage(run, writers, attempt);
    } finally {
      await attempt('stop observers', () =>
        bounded(run, 'stop-observers', async () => observers[Symbol.asyncDispose]()),
      );
    }
    // Its audit may wait for those of many others, whose databases take the machine's time meanwhile.
    await bounded(run, 'remove-database', () => testbed.removeDatabase());
    enter(run, 'audit');
    if (run.meet === undefined) await auditOf(run, 'first');
    await Promise.all(run.audits);
    await auditOf(run, 'second');
    enter(run, 'report');
  });
  await Promise.all(run.audits);
  unsubscribe();
  await attempt('stop writers', async () => {
    written = (await bounded(run, 'stop-writers', async () => writers?.stop())) ?? {};
  });
  await attempt(exportStep, () =>
    bounded(run, 'export-writes', () => testbed.disk.exportWrites(run.folder)),
  );
  await attempt('close', () => bounded(run, 'close', () => testbed.close()));
  recorder.list(written);
}

const auditOf = (run: Run, image: ImageLabel): Promise<void> =>
  bounded(run, 'audit', () => audit(run, image));

/** From the steady state on; the writers end before that image is taken. */
async function untilSecondImage(run: Run, writers: Writers, attempt: Attempt): Promise<void> {
  enter(run, 'steady');
  await bounded(
    run,
    'steady',
    (signal) => reachSteadyState({ ...run, signal }, writers),
    run.signal,
  );
  if (run.meet === undefined) await bounded(run, 'audit', () => auditSteadyState(run));
  const victim = await currentPod(run.testbed);
  await faultToConvergence(run, writers, victim, attempt);
  await bounded(run, 'stop-writers', () => writers.stop());
  enter(run, 'second-image');
  await bounded(run, 'second-image', () => takeImage(run, 'second'));
}

/**
 * Often enough to tell within which second a replaced server still answered; a client that writes
 * less than four times a second reads half as often as it writes, since nothing new is there.
 */
const readEveryMs = (rate: number | 'max'): number =>
  rate === 'max' ? 500 : Math.max(500, 2000 / rate);

async function startWriters({ testbed, scenario, seed }: Run): Promise<Writers> {
  // An idle victim is left alone: it has nothing new that could be read.
  const reads = scenario.rate === 0 ? {} : { readEveryMs: readEveryMs(scenario.rate) };
  return testbed.startWriters(bothClients(scenario, seed, reads));
}

async function currentPod(testbed: Testbed): Promise<PodRef> {
  const pod = await testbed.kubernetes.databasePod();
  if (pod !== undefined) return pod;
  throw new EvidenceError('NO_DATABASE_POD', 'no database pod is bound to a node before the fault');
}

/** From the fault to a working database, healed whatever happens in between. */
async function faultToConvergence(
  run: Run,
  writers: Writers,
  victim: PodRef,
  attempt: Attempt,
): Promise<void> {
  const { testbed, scenario, recorder, sightings, signal, meet } = run;
  const { clock } = testbed;
  const fault = faultOf(scenario);
  const remedy = new RemedyRun({ ...run, victim });
  const context = { testbed, recorder, victim, scenario };
  await bounded(run, 'lead-up', async (signal) => fault.leadUp?.(context, signal), signal);
  await meet?.('fault');
  sightings.begin(victim);
  enter(run, 'fault');
  const faultAtMs = clock.nowMs();
  const completed = await attempt('fault', async () => {
    await bounded(run, 'fault', () => fault.inject(context));
    enter(run, 'watch');
    const inTheWait = (what: string, work: () => Promise<void>): void => {
      if (meet !== undefined) run.audits.push(attempt(what, work));
    };
    inTheWait('steady state', () => bounded(run, 'audit', () => auditSteadyState(run)));
    const leastUntilMs = clock.nowMs() + fault.leastMs;
    const { forceDetachAfterMs } = scenario;
    const looking = (signal: AbortSignal): Promise<void> =>
      watchWhile(
        { clock, sightings, faultAtMs, forceDetachAfterMs, signal },
        (moments) =>
          Promise.all([
            attempt('fault', async () => fault.goOn?.(context, moments)),
            attempt('remedy', () => remedy.goOn(moments)),
          ]),
        async () => {
          if (scenario.recreations > 0) await recreate({ ...run, signal, victim });
          else await watch({ ...run, signal, writers, victim, remedy, faultAtMs });
          await clock.sleep(Math.max(0, leastUntilMs - clock.nowMs()), signal);
        },
      );
    await bounded(run, 'watch', looking, signal);
    await bounded(run, 'ask-again', async () => fault.askAgain?.(context));
    enter(run, 'first-image');
    await bounded(run, 'first-image', () => takeImage(run, 'first'));
    inTheWait('audit', () => auditOf(run, 'first'));
    if (scenario.moveBack)
      await bounded(run, 'move-back', (signal) => moveBack({ ...run, signal, victim }), signal);
    // Here, as no run of a shared event mends anything before all of them have met.
    await bounded(run, 'ask-again', async () => fault.askAgain?.(context));
  });
  await meet?.('heal');
  enter(run, 'heal');
  await attempt('heal', () => bounded(run, 'heal', () => fault.heal(context)));
  if (scenario.untaintAt === 'heal') await attempt('undo remedy', () => remedy.takeBack());
  enter(run, 'converge');
  await attempt('converge', () =>
    bounded(
      run,
      'converge',
      (signal) => converge({ ...run, signal, writers, victim, remedy }),
      signal,
    ),
  );
  await meet?.('undo');
  // Also where the convergence failed.
  await attempt('undo remedy', () => remedy.takeBack());
  if (scenario.moveBack || scenario.recreations > 0) {
    await attempt('undo move back', () =>
      bounded(run, 'undo-move-back', () => letOthersServe(testbed, victim)),
    );
  }
  if (!completed) throw new EvidenceError('CUT_SHORT', 'the run ended before its first image');
}
