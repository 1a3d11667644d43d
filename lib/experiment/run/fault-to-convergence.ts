/** From the fault to its heal and to a database that serves again. */
import type { PodRef } from '../../cluster/port.ts';
import type { Writers } from '../../workload/port.ts';
import { EvidenceError } from '../../errors.ts';
import type { Fault, FaultContext } from '../../faults/fault.ts';
import { faultOf } from '../../faults/index.ts';
import { auditOf, bounded, enter, type AttemptWork, type Run } from './run-context.ts';
import { converge, type ConvergeContext } from './converge.ts';
import { watchWhile } from './moments.ts';
import { letOthersServe, moveBack, recreate } from './move-back.ts';
import { RemedyRun } from './remedy-run.ts';
import { waitUntil } from './wait.ts';

interface Struck {
  readonly fault: Fault;
  readonly context: FaultContext;
  readonly remedy: RemedyRun;
  readonly writers: Writers;
  readonly attempt: AttemptWork;
}

/** From the fault to a working database, healed whatever happens in between. */
export async function faultToConvergence(
  run: Run,
  writers: Writers,
  victim: PodRef,
  attempt: AttemptWork,
): Promise<void> {
  const { scenario, recorder, sightings, steps, event } = run;
  const fault = faultOf(scenario, run.custom?.fault);
  const testbed = steps.breakable(victim);
  const remedy = new RemedyRun({ ...run, testbed, victim });
  const context = { testbed, recorder, victim, scenario };
  await bounded(run, 'lead-up', async (signal) => fault.leadUp?.(context, signal));
  await event?.pass('fault');
  sightings.begin(victim);
  enter(run, 'fault');
  const struck = { fault, context, remedy, writers, attempt };
  const completed = await attempt('fault', () => faultToFirstImage(run, struck));
  if (completed && scenario.moveBack) {
    await attempt('move back', () =>
      bounded(run, 'move-back', (signal) => moveBack({ ...run, signal, victim })),
    );
  }
  // Here, as no run of a shared event mends anything before all of them have met.
  if (completed) await attempt('ask again', () => askAgain(run, fault, context));
  await healAndConverge(run, struck);
  if (!completed) throw new EvidenceError('CUT_SHORT', 'the run ended before its first image');
}

/** The fault, the remedy in its time, and the first image, which no later step may change. */
async function faultToFirstImage(
  run: Run,
  { fault, context, remedy, writers, attempt }: Struck,
): Promise<void> {
  const { testbed, scenario, sightings, steps, event } = run;
  const { clock } = testbed;
  const { victim } = context;
  const faultAtMs = clock.nowMs();
  // Under way when the fault strikes, or just done. An idle database stays idle.
  if (scenario.rate !== 0 && !steps.writesOnly) writers.changeSchema();
  await bounded(run, 'fault', () => fault.inject(context));
  enter(run, 'watch');
  const inTheWait = (what: string, work: () => Promise<void>): void => {
    if (event !== undefined) run.audits.push(attempt(what, work));
  };
  inTheWait('steady state', () => auditOf(run, 'steady'));
  const leastUntilMs = clock.nowMs() + Math.max(fault.leastMs, steps.leastMs);
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
  await bounded(run, 'watch', looking);
  await askAgain(run, fault, context);
  enter(run, 'first-image');
  await bounded(run, 'first-image', (signal) => steps.image('first', signal));
  inTheWait('audit', () => auditOf(run, 'first'));
}

/** Whatever came before: what was broken is mended, and who can serve is given the time to. */
async function healAndConverge(
  run: Run,
  { fault, context, remedy, writers, attempt }: Struck,
): Promise<void> {
  const { testbed, scenario, event } = run;
  const { victim } = context;
  await event?.pass('heal');
  enter(run, 'heal');
  await attempt('heal', () => bounded(run, 'heal', () => fault.heal(context)));
  if (scenario.untaintAt === 'heal') await attempt('undo remedy', () => remedy.takeBack());
  enter(run, 'converge');
  await attempt('converge', () =>
    bounded(run, 'converge', (signal) => converge({ ...run, signal, writers, victim, remedy })),
  );
  await event?.pass('undo');
  // Also where the convergence failed.
  await attempt('undo remedy', () => remedy.takeBack());
  if (scenario.moveBack || scenario.recreations > 0) {
    await attempt('undo move back', () =>
      bounded(run, 'undo-move-back', () => letOthersServe(testbed, victim)),
    );
  }
}

const askAgain = (run: Run, fault: Fault, context: FaultContext): Promise<void> =>
  bounded(run, 'ask-again', async () => fault.askAgain?.(context));

/** So many commits by the successor count as serving; an open port does not. */
const servingCommits = 5;

interface WatchContext extends ConvergeContext {
  readonly faultAtMs: number;
}

async function watch(context: WatchContext): Promise<void> {
  const { scenario, testbed, faultAtMs, signal, steps, writers, victim, onProgress } = context;
  const { clock } = testbed;
  const { handOver } = steps;
  const deadlineMs = faultAtMs + scenario.horizonMs;
  await context.remedy.apply(faultAtMs, deadlineMs);

  const successorCommits = (): number =>
    writers.acked().reduce((sum, each) => (each.node === victim.node ? sum : sum + each.count), 0);
  const isSeen = (): boolean => handOver.isSeen(victim);
  const handedOver = await waitUntil(clock, isSeen, { deadlineMs, signal });
  onProgress(handedOver ? handOver.seen : handOver.none);
  if (!handedOver) return;
  const serving = await waitUntil(clock, () => successorCommits() >= servingCommits, {
    deadlineMs: Math.min(deadlineMs, clock.nowMs() + scenario.patienceMs),
    signal,
  });
  onProgress(serving ? 'the successor commits' : 'the successor does not commit');
  if (serving) await clock.sleep(scenario.overlapMs, signal);
}
