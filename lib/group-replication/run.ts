/**
 * One run on a replication group: prepare, steady state, the primary's node broken, watch, read the
 * group's ledger, heal, converge, read every member's. The verdict is read from the history alone.
 */
import type { PodRef, Testbed } from '../cluster/port.ts';
import type { Writers } from '../workload/port.ts';
import type { Clock } from '../cluster/clock.ts';
import { describeError, EvidenceError } from '../errors.ts';
import { attempting, type Attempt } from '../experiment/run/attempt.ts';
import { bothClients, bothCommit } from '../experiment/run/both-clients.ts';
import { basisOf } from '../experiment/scenario.ts';
import { waitUntil } from '../experiment/run/wait.ts';
import { faultOf } from '../faults/index.ts';
import { heartbeatMs, type Fault, type FaultContext } from '../faults/fault.ts';
import type { PhaseName } from '../history/events.ts';
import { openHistory } from '../history/reader.ts';
import { openRecorder, type RunRecorder } from '../history/recorder.ts';
import { judgeGroup } from './judge.ts';
import { groupObserved } from './observations.ts';
import type { GroupTestbed } from './port.ts';
import type { GroupScenario } from './settings.ts';
import type { GroupVerdict } from './verdict.ts';
import { hasQuorum, routedPrimary } from './views.ts';

export interface GroupRunOptions extends GroupScenario {
  readonly seed: string;
  readonly runId: string;
  /** The run's folder; it exists. */
  readonly folder: string;
  readonly clock: Clock;
  /** Makes the group; whoever calls it closes what it returns. */
  readonly open: (recorder: RunRecorder) => Promise<GroupTestbed>;
  /** Paste-ready command that repeats this run. */
  readonly replay: string;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

interface Run extends GroupRunOptions {
  readonly recorder: RunRecorder;
  readonly testbed: GroupTestbed;
}

/** Also a member that gives up after `majorityTimeoutS` must be seen to do so. */
const givesUpWithinMs = 15_000;
/** Writers and readers go on so long after the group is whole again. */
const settleMs = 5_000;

/** Throws ForcedetachError only when nothing could be set up; later trouble is in the verdict. */
export async function runGroup(options: GroupRunOptions): Promise<GroupVerdict> {
  const { scenario, settings, seed, runId, folder, clock, replay } = options;
  const recorder = openRecorder(folder, clock);
  const basis = basisOf('kind', scenario);
  const about = { schemaVersion: 1, runId, seed, backend: 'kind', basis, scenario } as const;
  recorder.record({ type: 'run', ...about, replay });
  note(recorder, groupObserved.settings, { ...settings });
  enter({ ...options, recorder }, 'prepare');
  try {
    const testbed = await options.open(recorder);
    const { timers, versions, nodes } = testbed;
    recorder.record({ type: 'setup', timers, versions, nodes });
    await perform({ ...options, recorder, testbed });
  } finally {
    recorder.close();
  }
  return judgeGroup(openHistory(folder));
}

function enter(run: Pick<Run, 'recorder' | 'onProgress'>, phase: PhaseName): void {
  run.recorder.record({ type: 'phase', phase });
  run.onProgress(`— ${phase}`);
}

function note(
  recorder: RunRecorder,
  name: string,
  data: Readonly<Record<string, unknown>>,
  node?: string,
): void {
  const at = node === undefined ? {} : { node };
  recorder.record({ type: 'observation', source: 'group', name, ...at, data });
}

/** Whatever happens in here ends in the history, and the testbed is closed. */
async function perform(run: Run): Promise<void> {
  const { testbed, recorder, seed, scenario } = run;
  const attempt = attempting(recorder);
  let writers: Writers | undefined;
  await attempt('run', async () => {
    await using _observers = await testbed.observe(recorder);
    writers = await testbed.startWriters(bothClients(scenario, seed));
    const victim = await steadyState(run, writers);
    await faultToConvergence(run, writers, victim, attempt);
    await writers.stop();
    enter(run, 'audit');
    await readAll(run);
    enter(run, 'report');
  });
  await attempt('stop writers', async () => writers?.stop());
  await attempt('close', () => testbed.close());
}

/** Both clients commit and every member is online; resolves to the primary. */
async function steadyState(run: Run, writers: Writers): Promise<PodRef> {
  const { testbed, scenario, signal } = run;
  enter(run, 'steady');
  const whole = (): boolean => isWhole(testbed);
  const deadlineMs = testbed.clock.nowMs() + 60_000;
  const condition = (): boolean => bothCommit(writers) && whole();
  if (!(await waitUntil(testbed.clock, condition, { deadlineMs, signal }))) {
    throw new EvidenceError('NO_STEADY_STATE', 'a client or a member was not there in 60 s');
  }
  await testbed.clock.sleep(scenario.warmupMs, signal);
  const primary = routedPrimary(testbed.views('outside'));
  const victim = primary === undefined ? undefined : testbed.members().get(primary);
  if (victim === undefined || !whole()) {
    throw new EvidenceError('NOT_STEADY', 'the group was not whole before anything was broken');
  }
  return victim;
}

/** Every member answers from outside and sees every other one online. */
function isWhole(testbed: GroupTestbed): boolean {
  const views = testbed.views('outside');
  return (
    views.length === testbed.members().size &&
    views.every((view) => hasQuorum(view) && view.members.length === views.length) &&
    views.every(({ members }) => members.every(({ state }) => state === 'ONLINE'))
  );
}

/** From the fault to a whole group, healed whatever happens in between. */
async function faultToConvergence(
  run: Run,
  writers: Writers,
  victim: PodRef,
  attempt: Attempt,
): Promise<void> {
  const { testbed, recorder, scenario } = run;
  const { clock, controlPlane, kubernetes, machine } = testbed;
  const disk: Testbed['disk'] = testbed.disk(victim.node);
  const broken = { clock, controlPlane, kubernetes, machine, disk };
  const context: FaultContext = { testbed: broken, recorder, victim, scenario };
  const fault = faultOf(scenario);
  enter(run, 'fault');
  const completed = await attempt('fault', async () => {
    await fault.inject(context);
    enter(run, 'watch');
    await watch(run, writers, victim, fault);
    enter(run, 'first-image');
    await readPrimary(run, 'first', victim);
  });
  enter(run, 'heal');
  await attempt('heal', () => fault.heal(context));
  enter(run, 'converge');
  await attempt('converge', () => converge(run, writers));
  if (!completed) throw new EvidenceError('CUT_SHORT', 'the run ended before it was healed');
}

/** Until outside clients have committed elsewhere for a while, and the victim has shown its end. */
async function watch(run: Run, writers: Writers, victim: PodRef, fault: Fault): Promise<void> {
  const { testbed, scenario, settings, signal, onProgress } = run;
  const { clock } = testbed;
  const beganMs = clock.nowMs();
  const moved = (): boolean =>
    writers.acked().some(({ node, client }) => client === 'outside' && node !== victim.node);
  const deadlineMs = beganMs + scenario.horizonMs;
  const served = await waitUntil(clock, moved, { deadlineMs, signal });
  onProgress(served ? 'outside clients commit again' : 'nobody serves the outside clients');
  await clock.sleep(scenario.overlapMs, signal);
  const leastMs = Math.max(fault.leastMs, heartbeatMs, settings.majorityTimeoutS * 1000);
  await clock.sleep(Math.max(0, beganMs + leastMs + givesUpWithinMs - clock.nowMs()), signal);
}

/** Outside clients commit, and the group is whole; a member that stays away is told in the verdict. */
async function converge(run: Run, writers: Writers): Promise<void> {
  const { testbed, scenario, signal, recorder, onProgress } = run;
  const { clock } = testbed;
  const acked = (): number =>
    writers.acked().reduce((sum, { client, count }) => sum + (client === 'outside' ? count : 0), 0);
  const before = acked();
  const deadlineMs = clock.nowMs() + scenario.convergeMs;
  if (await waitUntil(clock, () => acked() > before, { deadlineMs, signal })) {
    recorder.record({ type: 'action', actor: 'runner', name: 'converge', step: 'done' });
  }
  const whole = await waitUntil(clock, () => isWhole(testbed), { deadlineMs, signal });
  onProgress(whole ? 'the group is whole again' : 'the group is not whole again');
  await clock.sleep(settleMs, signal);
}

/** The group's ledger, row by row; resolves to its transactions. */
async function readPrimary(
  { testbed, recorder }: Run,
  image: 'first' | 'second',
  victim?: PodRef,
): Promise<{ readonly node: string; readonly gtids: string }> {
  const node = routedPrimary(testbed.views('outside'));
  if (node === undefined || node === victim?.node) {
    throw new EvidenceError('NO_PRIMARY', 'no member with a majority says who the primary is');
  }
  const takenAtMs = testbed.clock.nowMs();
  const reading = await testbed.readLedger(node, undefined, (row) =>
    recorder.record({ type: 'row', image, row }),
  );
  note(recorder, groupObserved.ledger, { image, takenAtMs, ...reading }, node);
  return { node, gtids: reading.gtids };
}

/** The primary's ledger, then every other member's against it. */
async function readAll(run: Run): Promise<void> {
  const { testbed, recorder } = run;
  const primary = await readPrimary(run, 'second');
  for (const node of testbed.members().keys()) {
    if (node === primary.node) continue;
    const takenAtMs = testbed.clock.nowMs();
    // One that was thrown out may well refuse to answer: that is its state, and no gap.
    const told = await testbed
      .readLedger(node, primary.gtids, () => undefined)
      .catch((error: unknown) => ({ error: describeError(error) }));
    note(recorder, groupObserved.ledger, { takenAtMs, ...told }, node);
  }
}
