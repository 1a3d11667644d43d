/** From the fault to its heal and to databases that serve again: the node's part once, each volume's its own. */
import type { Capability } from '../../capabilities.ts';
import type { Fault, FaultContext, Moments } from '../../faults/fault.ts';
import { wholeFaultOf } from '../../faults/index.ts';
import { auditOf, bounded, each, enter, once, recorderOf, type RunEvent } from './run-context.ts';
import { converge } from './converge.ts';
import { watchWhile } from './moments.ts';
import { letOthersServe, moveBack, recreate } from './move-back.ts';
import { toldOf } from './observed.ts';
import { remediesOf, type RemedyRun } from './remedy-run.ts';
import type { Struck } from './struck.ts';
import { waitUntil } from './wait.ts';
import { servingCommits } from '../waits.ts';

/** The event as it is played. */
interface Strike extends RunEvent {
  /** At least one. */
  readonly struck: readonly Struck[];
  readonly fault: Fault;
  readonly context: FaultContext<Capability>;
  readonly remedies: readonly RemedyRun[];
  /** What is bounded once for all. */
  readonly whole: Parameters<typeof bounded>[0];
}

/** From the fault to working databases, healed whatever happens in between. Resolves to those whose first image is kept. */
export async function faultToConvergence(
  event: RunEvent,
  steady: readonly Struck[],
): Promise<readonly Struck[]> {
  const [first] = steady;
  if (first === undefined) return [];
  const strike = strikeOf(event, steady, first);
  const { fault, context, whole } = strike;
  const led = bounded(whole, 'lead-up', async (signal) => fault.leadUp?.(context, signal));
  const struck = await each(steady, (run) => led.then(() => run));
  if (struck.length === 0) return [];
  for (const run of struck) {
    run.sightings.begin(run.victim);
    enter(run, 'fault');
  }
  const completed = await faultToFirstImages(strike);
  await backAndAskedAgain(strike, completed);
  await healAndConverge(strike);
  return completed;
}

function strikeOf(event: RunEvent, struck: readonly Struck[], first: Struck): Strike {
  const { cluster, custom, signal } = event;
  const { scenario, victim, times } = first;
  const fault = wholeFaultOf(scenario, custom?.fault);
  const volumes = struck.map(({ volume }) => volume);
  const context = {
    ...{ testbed: cluster, victim: { node: victim.node }, volumes, scenario },
    recorder: recorderOf(struck),
  };
  const whole = { ...toldOf(struck), testbed: cluster, times, signal };
  const remedies = remediesOf(event, struck);
  return { ...event, struck, fault, context, remedies, whole };
}

/** The fault, the remedies in their time, and the first images, which no later step may change. */
async function faultToFirstImages(strike: Strike): Promise<readonly Struck[]> {
  const { cluster, struck, fault, context, whole } = strike;
  const { clock } = cluster;
  const faultAtMs = clock.nowMs();
  const isBroken = await once(struck, 'fault', async () => {
    for (const { scenario, steps, writers } of struck) {
      // Under way when the fault strikes, or just done. An idle database stays idle.
      if (scenario.rate !== 0 && !steps.writesOnly) writers.changeSchema();
    }
    await bounded(whole, 'fault', () => fault.inject(context));
  });
  if (!isBroken) return [];
  for (const run of struck) {
    enter(run, 'watch');
    if (!run.isAlone) run.audits.push(run.attempt('steady state', () => auditOf(run, 'steady')));
  }
  const served = await watchAll(strike, faultAtMs);
  if (served.length === 0) return [];
  if (!(await once(served, 'fault', () => askAgain(strike)))) return [];
  return withEach(served, 'fault', async (run) => {
    enter(run, 'first-image');
    await bounded(run, 'first-image', (signal) => run.steps.image('first', signal));
    if (!run.isAlone) run.audits.push(run.attempt('audit', () => auditOf(run, 'first')));
  });
}

/** Does it side by side; resolves to those with whom it was done. */
async function withEach(
  runs: readonly Struck[],
  where: string,
  work: (run: Struck) => Promise<void>,
): Promise<readonly Struck[]> {
  const done = await Promise.all(
    runs.map(async (run) => ((await run.attempt(where, () => work(run))) ? [run] : [])),
  );
  return done.flat();
}

/** Until each successor serves, or there is none; the fault goes on, and remedies act, as long as one is watched. */
function watchAll(strike: Strike, faultAtMs: number): Promise<readonly Struck[]> {
  const { cluster, struck, fault, context, remedies, whole, signal } = strike;
  const { clock } = cluster;
  const { forceDetachAfterMs } = context.scenario;
  const leastUntilMs = clock.nowMs() + Math.max(fault.leastMs, whole.times.leastMs);
  const goOn = (moments: Moments): Promise<unknown> =>
    Promise.all([
      once(struck, 'fault', () =>
        bounded(whole, 'watch', async () => fault.goOn?.(context, moments)),
      ),
      ...remedies.map((remedy) => once(remedy.of, 'remedy', () => remedy.goOn(moments))),
    ]);
  return watchWhile(
    {
      ...{ clock, faultAtMs, forceDetachAfterMs, signal },
      sightings: struck.map(({ sightings }) => sightings),
    },
    goOn,
    () =>
      withEach(struck, 'fault', (run) =>
        bounded(run, 'watch', async (signal) => {
          if (run.scenario.recreations > 0) await recreate(recreating(strike, run, signal));
          else await watch(strike, run, { faultAtMs, signal });
          await clock.sleep(Math.max(0, leastUntilMs - clock.nowMs()), signal);
        }),
      ),
  );
}

const askAgain = ({ whole, fault, context }: Strike): Promise<void> =>
  bounded(whole, 'ask-again', async () => fault.askAgain?.(context));

/** Before the heal, and for those that came to it in good order. */
async function backAndAskedAgain(strike: Strike, completed: readonly Struck[]): Promise<void> {
  const { cluster, context, whole } = strike;
  if (completed.length === 0) return;
  if (context.scenario.moveBack) {
    const sightings = completed.map((run) => run.sightings);
    const { victim } = context;
    const recorder = recorderOf(completed);
    await once(completed, 'move back', () =>
      bounded(whole, 'move-back', (signal) =>
        moveBack({ testbed: cluster, recorder, sightings, victim, signal }),
      ),
    );
  }
  await once(completed, 'ask again', () => askAgain(strike));
}

/** Whatever came before: what was broken is mended, and who can serve is given the time to. */
async function healAndConverge(strike: Strike): Promise<void> {
  const { cluster, struck, fault, context, remedies, whole } = strike;
  const { scenario, victim } = context;
  const takeBack = (): Promise<unknown> =>
    Promise.all(remedies.map((remedy) => once(remedy.of, 'undo remedy', () => remedy.takeBack())));
  for (const run of struck) enter(run, 'heal');
  await once(struck, 'heal', () => bounded(whole, 'heal', () => fault.heal(context)));
  if (scenario.untaintAt === 'heal') await takeBack();
  for (const run of struck) enter(run, 'converge');
  await once(struck, 'converge', () =>
    bounded(whole, 'converge', (signal) => converge({ cluster, struck, remedies, signal })),
  );
  // Also where the convergence failed.
  await takeBack();
  if (scenario.moveBack || scenario.recreations > 0) {
    await once(struck, 'undo move back', () =>
      bounded(whole, 'undo-move-back', () => letOthersServe(cluster, victim)),
    );
  }
}

const recreating = ({ cluster }: Strike, run: Struck, signal: AbortSignal) => ({
  ...{ testbed: cluster, pods: run.testbed.kubernetes, sightings: [run.sightings], signal },
  ...{ recorder: run.recorder, victim: run.victim, scenario: run.scenario },
  onProgress: run.onProgress,
});

async function watch(
  { cluster, remedies }: Strike,
  run: Struck,
  { faultAtMs, signal }: { readonly faultAtMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { clock } = cluster;
  const { scenario, steps, writers, victim, onProgress } = run;
  const { handOver } = steps;
  const deadlineMs = faultAtMs + scenario.horizonMs;
  const remedy = remedies.find(({ of }) => of.includes(run));
  await remedy?.apply(faultAtMs, deadlineMs);

  const successorCommits = (): number =>
    writers.acked().reduce((sum, each) => (each.node === victim.node ? sum : sum + each.count), 0);
  const isSeen = (): boolean => handOver.isSeen(victim);
  const handedOver = await waitUntil(clock, isSeen, { deadlineMs, signal });
  const outcome = handedOver ? handOver.seen : handOver.none;
  if (outcome !== undefined) onProgress(outcome);
  if (!handedOver) return;
  const serving = await waitUntil(clock, () => successorCommits() >= servingCommits, {
    deadlineMs: Math.min(deadlineMs, clock.nowMs() + scenario.patienceMs),
    signal,
  });
  onProgress(serving ? 'the successor commits' : 'the successor does not commit');
  if (serving) await clock.sleep(scenario.overlapMs, signal);
}
