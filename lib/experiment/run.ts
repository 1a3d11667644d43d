/**
 * One run, from nothing to a verdict: prepare, steady state, fault, remedy, watch, first image,
 * heal, converge, second image, audit. The history is its only output; the verdict is read from it.
 */
import type { Backend, PodRef, Testbed, Writers } from '../cluster/port.ts';
import { EvidenceError } from '../errors.ts';
import { faultOf } from '../faults/index.ts';
import { historyVersion, type PhaseName } from '../history/events.ts';
import { openHistory } from '../history/reader.ts';
import { openRecorder, type RunRecorder } from '../history/recorder.ts';
import { assembleVerdict } from './assemble.ts';
import { attempting, type Attempt } from './attempt.ts';
import { bothClients } from './both-clients.ts';
import { exportStep } from './completeness.ts';
import { converge } from './converge.ts';
import { watchWhile } from './moments.ts';
import { audit, type ImageRun, takeImage } from './images.ts';
import { letOthersServe, moveBack } from './move-back.ts';
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
    const testbed = await backend.open({
      scenario,
      runId,
      seed,
      folder,
      recorder,
      onProgress,
      signal,
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

/** Whatever happens in here ends in the history, and the testbed is closed. */
async function perform(run: Run): Promise<void> {
  const { testbed, recorder, sightings } = run;
  const unsubscribe = recorder.subscribe((record) => sightings.see(record));
  const attempt = attempting(recorder);
  let writers: Writers | undefined;
  await attempt('run', async () => {
    {
      await using _observers = await testbed.observe(recorder);
      writers = await startWriters(run);
      await untilSecondImage(run, writers, attempt);
    }
    // Its audit may wait for those of many others, whose databases take the machine's time meanwhile.
    await testbed.removeDatabase();
    enter(run, 'audit');
    if (run.meet === undefined) await audit(run, 'first');
    await Promise.all(run.audits);
    await audit(run, 'second');
    enter(run, 'report');
  });
  await Promise.all(run.audits);
  unsubscribe();
  await attempt('stop writers', async () => writers?.stop());
  await attempt(exportStep, () => testbed.disk.exportWrites(run.folder));
  await attempt('close', () => testbed.close());
}

/** From the steady state on; the writers end before that image is taken. */
async function untilSecondImage(run: Run, writers: Writers, attempt: Attempt): Promise<void> {
  enter(run, 'steady');
  await reachSteadyState(run, writers);
  if (run.meet === undefined) await auditSteadyState(run);
  const victim = await currentPod(run.testbed);
  await faultToConvergence(run, writers, victim, attempt);
  await writers.stop();
  enter(run, 'second-image');
  await takeImage(run, 'second');
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
  await fault.leadUp?.(context, signal);
  await meet?.('fault');
  sightings.begin(victim);
  enter(run, 'fault');
  const faultAtMs = clock.nowMs();
  const completed = await attempt('fault', async () => {
    await fault.inject(context);
    enter(run, 'watch');
    const inTheWait = (what: string, work: () => Promise<void>): void => {
      if (meet !== undefined) run.audits.push(attempt(what, work));
    };
    inTheWait('steady state', () => auditSteadyState(run));
    const leastUntilMs = clock.nowMs() + fault.leastMs;
    await watchWhile(
      { clock, sightings, faultAtMs, forceDetachAfterMs: scenario.forceDetachAfterMs },
      (moments) =>
        Promise.all([
          attempt('fault', async () => fault.goOn?.(context, moments)),
          attempt('remedy', () => remedy.goOn(moments)),
        ]),
      async () => {
        if (scenario.recreations > 0) await recreate({ ...run, victim });
        else await watch({ ...run, writers, victim, remedy, faultAtMs });
        await clock.sleep(Math.max(0, leastUntilMs - clock.nowMs()), signal);
      },
    );
    await fault.askAgain?.(context);
    enter(run, 'first-image');
    await takeImage(run, 'first');
    inTheWait('audit', () => audit(run, 'first'));
    if (scenario.moveBack) await moveBack({ ...run, victim });
    // Here, as no run of a shared event mends anything before all of them have met.
    await fault.askAgain?.(context);
  });
  await meet?.('heal');
  enter(run, 'heal');
  await attempt('heal', () => fault.heal(context));
  if (scenario.untaintAt === 'heal') await attempt('undo remedy', () => remedy.takeBack());
  enter(run, 'converge');
  await attempt('converge', () => converge({ ...run, writers, victim, remedy }));
  await meet?.('undo');
  // Also where the convergence failed.
  await attempt('undo remedy', () => remedy.takeBack());
  if (scenario.moveBack || scenario.recreations > 0) {
    await attempt('undo move back', () => letOthersServe(testbed, victim));
  }
  if (!completed) throw new EvidenceError('CUT_SHORT', 'the run ended before its first image');
}
