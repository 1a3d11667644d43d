/** From the fault to its heal and to databases that serve again: the node's part once, each volume's its own. */
import { type Capability, EvidenceError } from '../core/index.ts';
import type { Fault, FaultContext, Moments } from './faults/fault.ts';
import { wholeFaultOf } from './faults/around.ts';
import { emptiesOthers, servingCommits, strikesNode } from '../scenario/index.ts';
import { converge, letOthersServe, moveBack, recreate } from './converge.ts';
import { watchWhile, waitUntil } from './moments.ts';
import { remediesOf, type RemedyRun } from './remedies.ts';
import { auditOf, type RunEvent, type Struck } from './run-context.ts';
import { each, Shell } from './shell.ts';

interface Strike extends RunEvent {
  readonly struck: readonly Struck[];
  readonly shell: Shell;
  readonly fault: Fault;
  readonly context: FaultContext<Capability>;
  readonly remedies: readonly RemedyRun[];
}

/**
 * From the fault to working databases, healed whatever happens in between, and to the second image. Resolves
 * to those that have both.
 */
export async function faultToConvergence(
  event: RunEvent,
  struck: readonly Struck[],
): Promise<readonly Struck[]> {
  const [first] = struck;
  if (first === undefined) return [];
  const { scenario, victim } = first;
  const shell = Shell.together(struck);
  const fault = wholeFaultOf(scenario, event.custom?.fault);
  const volumes = struck.map(({ volume }) => volume);
  const remedies = remediesOf(event, struck);
  const isOver = (): boolean => remedies.some(({ hasSwitchedOff }) => hasSwitchedOff);
  const context = { testbed: event.cluster, victim, volumes, scenario, recorder: shell, isOver };
  const strike = { ...event, struck, shell, fault, context, remedies };
  const leadUp = async (signal: AbortSignal) => fault.leadUp?.(context, signal);
  if (!(await shell.step('lead-up', leadUp, 'run'))) return [];
  for (const run of struck) run.sightings.begin(run.victim);
  shell.enter('fault');
  const completed = await faultToFirstImages(strike);
  if (completed.length > 0) await moveBackAndAskAgain(strike, completed);
  await healAndConverge(strike);
  return each(struck, 'run', async (run) => {
    if (!completed.includes(run)) {
      throw new EvidenceError('CUT_SHORT', 'the run ended before its first image');
    }
    await run.shell.bounded('stop-writers', () => run.writers.stop());
    run.shell.enter('second-image');
    await run.shell.bounded('second-image', (signal) => run.steps.image('second', signal));
    return run;
  });
}

/** The fault, the remedies in their time, and the first images, which no later step may change. */
async function faultToFirstImages(strike: Strike): Promise<readonly Struck[]> {
  const { cluster, struck, shell, fault, context } = strike;
  const faultAtMs = cluster.clock.nowMs();
  const isBroken = await shell.attempt('fault', () => {
    for (const { scenario, steps, writers } of struck) {
      // Under way when the fault strikes, or just done. An idle database stays idle.
      if (scenario.load.rate !== 0 && !steps.writesOnly) writers.changeSchema();
    }
    return shell.bounded('fault', () => fault.inject(context));
  });
  if (!isBroken) return [];
  shell.enter('watch');
  for (const run of struck) auditBeside(run, 'steady', 'steady state');
  const served = await watchAll(strike, faultAtMs);
  if (served.length === 0 || !(await askAgain(strike, served, 'fault'))) return [];
  return each(served, 'fault', async (run) => {
    run.shell.enter('first-image');
    await run.shell.bounded('first-image', (signal) => run.steps.image('first', signal));
    auditBeside(run, 'first', 'audit');
    return run;
  });
}

function auditBeside(run: Struck, label: 'steady' | 'first', where: string): void {
  if (!run.isAlone) run.audits.push(run.shell.attempt(where, () => auditOf(run, label)));
}

/** Until each successor serves, or there is none; the fault goes on, and remedies act, as long as one is watched. */
function watchAll(strike: Strike, faultAtMs: number): Promise<readonly Struck[]> {
  const { cluster, struck, shell, fault, context, remedies, signal } = strike;
  const { clock } = cluster;
  const { timers } = context.scenario;
  const leastMs = Math.max(fault.leastMs, ...struck.map(({ steps }) => steps.leastMs));
  const leastUntilMs = clock.nowMs() + leastMs;
  const sightings = struck.map((run) => run.sightings);
  const goOn = (moments: Moments): Promise<unknown> =>
    Promise.all([
      shell.step('watch', async () => fault.goOn?.(context, moments), 'fault'),
      ...remedies.map((remedy) => remedy.shell.attempt('remedy', () => remedy.goOn(moments))),
    ]);
  return watchWhile(
    { clock, sightings, faultAtMs, forceDetachAfterMs: timers.forceDetachAfter, signal },
    goOn,
    () =>
      each(struck, 'fault', (run) =>
        run.shell.bounded('watch', async (signal) => {
          const { scenario, testbed } = run;
          const here = { testbed: cluster, pods: testbed.kubernetes, sightings: [run.sightings] };
          if (scenario.fault.recreations > 0) await recreate({ ...run, ...here, signal });
          else await watch(strike, run, { faultAtMs, signal });
          await clock.sleep(Math.max(0, leastUntilMs - clock.nowMs()), signal);
          return run;
        }),
      ),
  );
}

const askAgain = (
  { fault, context }: Strike,
  runs: readonly Struck[],
  where?: string,
): Promise<boolean> =>
  Shell.together(runs).step('ask-again', async () => fault.askAgain?.(context), where);

/** Before the heal, and for those that came to it in good order. */
async function moveBackAndAskAgain(strike: Strike, completed: readonly Struck[]): Promise<void> {
  const { cluster: testbed, context } = strike;
  const recorder = Shell.together(completed);
  const sightings = completed.map((run) => run.sightings);
  if (context.scenario.remedy.moveBack) {
    await recorder.step('move-back', (signal) =>
      moveBack({ testbed, recorder, sightings, victim: context.victim, signal }),
    );
  }
  await askAgain(strike, completed);
}

/** Whatever came before: what was broken is mended, and who can serve is given the time to. */
async function healAndConverge(strike: Strike): Promise<void> {
  const { cluster, shell, fault, context, remedies } = strike;
  const { scenario, victim } = context;
  const takeBack = (): Promise<unknown> =>
    Promise.all(
      remedies.map((remedy) => remedy.shell.attempt('undo remedy', () => remedy.takeBack())),
    );
  shell.enter('heal');
  for (const remedy of remedies) await shell.attempt('heal', () => remedy.switchOn());
  await shell.step('heal', () => fault.heal(context));
  if (scenario.remedy.untaintAt === 'heal') await takeBack();
  shell.enter('converge');
  await shell.step('converge', (signal) => converge({ ...strike, signal }));
  // Also where the convergence failed.
  await takeBack();
  if (emptiesOthers(scenario)) {
    await shell.step('undo-move-back', () => letOthersServe(cluster, victim));
  }
}

async function watch(
  { cluster, remedies, fault }: Strike,
  run: Struck,
  { faultAtMs, signal }: { readonly faultAtMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const { clock } = cluster;
  const { scenario, steps, writers, victim, onProgress } = run;
  const { handOver } = steps;
  const deadlineMs = faultAtMs + scenario.watch.horizon;
  if (scenario.remedy.sameNode)
    await moveBack({ ...run, testbed: cluster, sightings: [run.sightings], signal });
  await remedies.find(({ of }) => of.includes(run))?.apply(faultAtMs, deadlineMs);

  const hasHappened = (): boolean => handOver.hasHappened(victim);
  const handedOver = await waitUntil(clock, hasHappened, { deadlineMs, signal });
  const outcome = handedOver ? handOver.happened : handOver.none;
  if (outcome !== undefined) onProgress(outcome);
  if (!handedOver) return;
  const successorCommits = (): number =>
    writers.acked().reduce((sum, each) => (each.node === victim.node ? sum : sum + each.count), 0);
  const serving = await waitUntil(clock, () => successorCommits() >= servingCommits, {
    deadlineMs: Math.min(deadlineMs, clock.nowMs() + scenario.watch.patience),
    signal,
  });
  onProgress(serving ? 'the successor commits' : 'the successor does not commit');
  if (serving) await clock.sleep(scenario.watch.overlap, signal);
  if (strikesNode(scenario))
    await waitUntil(clock, () => fault.mayEnd?.() ?? true, { deadlineMs, signal });
}
