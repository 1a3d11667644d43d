/**
 * One run, from nothing to a verdict: prepare, steady state, fault, remedy, watch, first image,
 * heal, converge, second image, audit. The history is its only output; the verdict is read from it.
 */
import type { Backend, PodRef, Testbed, Writers } from '../cluster/port.ts';
import { judgeImages } from '../checkers/index.ts';
import { EvidenceError } from '../errors.ts';
import { faultOf } from '../faults/index.ts';
import type { ImageLabel, PhaseName } from '../history/events.ts';
import { openHistory } from '../history/reader.ts';
import { openRecorder, type RunRecorder } from '../history/recorder.ts';
import { assembleVerdict } from './assemble.ts';
import { attempting, type Attempt } from './attempt.ts';
import { bothClients, bothCommit } from './both-clients.ts';
import { exportStep } from './completeness.ts';
import { converge } from './converge.ts';
import { watchWhile } from './moments.ts';
import { letOthersServe, moveBack } from './move-back.ts';
import { recreate } from './recreate.ts';
import { RemedyRun } from './remedy-run.ts';
import { basisOf, type Scenario } from './scenario.ts';
import { Sightings } from './sightings.ts';
import type { Verdict } from './verdict.ts';
import { waitUntil } from './wait.ts';
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

interface Run extends RunOptions {
  readonly recorder: RunRecorder;
  readonly testbed: Testbed;
  readonly sightings: Sightings;
  /** When each copy was begun: what was acknowledged by then must be in it. */
  readonly takenAtMs: Map<ImageLabel, number>;
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
    schemaVersion: 1,
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
    await perform({ ...options, recorder, testbed, sightings, takenAtMs: new Map() });
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
    await using _observers = await testbed.observe(recorder);
    writers = await startWriters(run);
    await steadyState(run, writers);
    const victim = await currentPod(testbed);
    await faultToConvergence(run, writers, victim, attempt);
    await writers.stop();
    await takeImage(run, 'second');
    enter(run, 'audit');
    await audit(run, 'first');
    await audit(run, 'second');
    enter(run, 'report');
  });
  unsubscribe();
  await attempt('stop writers', async () => writers?.stop());
  await attempt(exportStep, () => testbed.disk.exportWrites(run.folder));
  await attempt('close', () => testbed.close());
}

/** Often enough to tell within which second a replaced server still answered. */
const readEveryMs = 500;

async function startWriters({ testbed, scenario, seed }: Run): Promise<Writers> {
  // An idle victim is left alone: it has nothing new that could be read.
  const reads = scenario.rate === 0 ? {} : { readEveryMs };
  return testbed.startWriters(bothClients(scenario, seed, reads));
}

async function currentPod(testbed: Testbed): Promise<PodRef> {
  const pod = await testbed.kubernetes.databasePod();
  if (pod !== undefined) return pod;
  throw new EvidenceError('NO_DATABASE_POD', 'no database pod is bound to a node before the fault');
}

/** Before anything is broken, both clients commit and the audit finds nothing to say. */
async function steadyState(run: Run, writers: Writers): Promise<void> {
  const { testbed, scenario, signal, recorder } = run;
  enter(run, 'steady');
  if (scenario.rate !== 0) {
    const deadlineMs = testbed.clock.nowMs() + 60_000;
    const steady = await waitUntil(testbed.clock, () => bothCommit(writers), {
      deadlineMs,
      signal,
    });
    if (!steady) throw new EvidenceError('NO_STEADY_STATE', 'a client committed nothing in 60 s');
  }
  await testbed.clock.sleep(scenario.warmupMs, signal);
  const victim = await currentPod(testbed);
  await copyImage(run, 'steady', [victim.node]);
  await audit(run, 'steady');
  const history = openHistory(run.folder);
  const findings = judgeImages(history, {}).findings.filter((finding) => finding.level !== 'note');
  for (const { code, summary } of findings) {
    recorder.record({ type: 'error', where: 'steady state', message: `${code}: ${summary}` });
  }
  if (findings.length > 0) {
    throw new EvidenceError('NOT_STEADY', 'the audit found trouble before anything was broken');
  }
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
    await takeImage(run, 'first');
    if (scenario.moveBack) await moveBack({ ...run, victim });
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

async function takeImage(run: Run, label: ImageLabel): Promise<void> {
  enter(run, label === 'first' ? 'first-image' : 'second-image');
  const running: string[] = [];
  for (const node of run.testbed.nodes) {
    if ((await run.testbed.machine(node).state()) === 'running') running.push(node);
  }
  await copyImage(run, label, running);
}

/**
 * With trx_commit 0 or 2 the log is synced once a second only (innodb_flush_log_at_timeout): what a
 * living server has not synced yet need not be in a copy.
 */
const flushPeriodMs = 2000;

async function copyImage(run: Run, label: ImageLabel, freeze: readonly string[]): Promise<void> {
  const { testbed, recorder, takenAtMs, scenario } = run;
  const heldBackMs = scenario.trxCommit === 1 ? 0 : flushPeriodMs;
  takenAtMs.set(label, testbed.clock.nowMs() - heldBackMs);
  const about = { type: 'action', actor: 'runner', name: `copy ${label} image` } as const;
  recorder.record({ ...about, step: 'begin' });
  await testbed.disk.copy(label, freeze);
  recorder.record({ ...about, step: 'done' });
}

async function audit(run: Run, image: ImageLabel): Promise<void> {
  const { testbed, recorder, onProgress, takenAtMs, signal } = run;
  signal.throwIfAborted();
  onProgress(`auditing the ${image} image`);
  const evidence = await testbed.auditor.audit(image, (row) =>
    recorder.record({ type: 'row', image, row }),
  );
  recorder.record({ type: 'image', image, takenAtMs: takenAtMs.get(image) ?? 0, evidence });
}
