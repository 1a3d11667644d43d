/** A declared fault, played on the ports. The sweep plays the same declaration on the model (lib/sweep/effects.ts). */
import { type Capability, whenInWords } from '../../core/index.ts';
import { actOf } from './acts.ts';
import { certify, stepOf, type Fault, type FaultContext, type Moments } from './fault.ts';
import {
  lastingProbes,
  mendsAtOf,
  staysBroken,
  turnsMsOf,
  type DeclaredFault,
  type FaultProbe,
} from '../../scenario/index.ts';
import { withMachine, type LastingContext } from './lasting.ts';
import { probes } from './probes.ts';

type Context = LastingContext<Capability>;

export function faultOf(declared: DeclaredFault): Fault {
  const { name, leastMs, whole, broken, mendsAt, isOverAtOnce } = declared;
  const lasts = lastingProbes(declared);
  const within = (given: FaultContext<Capability>): Context => withMachine(name, given);
  const certified = (
    context: Context,
    moment: 'before' | 'during' | 'after',
    claims: readonly FaultProbe[],
  ): Promise<void> =>
    certify(
      context.recorder,
      name,
      moment,
      claims.map((claim) => probes[claim](context)),
    );

  async function mend(context: Context): Promise<void> {
    const step = stepOf(name, context);
    // It is broken from its begin until here.
    if (mendsAt !== undefined) await certified(context, 'during', broken);
    step('heal');
    const act = await actOf(declared.mends, context);
    const proofs = await act(context, 0);
    step('healed');
    await certified(context, 'after', declared.mended ?? whole);
    for (const prove of proofs ?? []) await prove();
  }

  async function goOn(context: Context, moments: Moments): Promise<void> {
    const { repeatsMs, breaks, mends } = declared;
    const { scenario } = context;
    const doAgain = async (act: typeof breaks, turn: number): Promise<unknown> =>
      (await actOf(act, context))(context, turn);
    const at = mendsAtOf(declared, scenario);
    if (at !== undefined) {
      if (await moments.reached(at)) return mend(context);
      stepOf(name, context)('failed', `the watch was over before it booted: ${whenInWords(at)}`);
    }
    if (repeatsMs !== undefined) {
      for (let turn = 1; await moments.passed(repeatsMs); turn += 1) await doAgain(breaks, turn);
    }
    const turnsMs = turnsMsOf(declared, scenario);
    if (turnsMs !== undefined) {
      const [brokenMs, wholeMs] = turnsMs;
      for (;;) {
        if (!(await moments.passed(brokenMs ?? 0))) return;
        await doAgain(mends, 0);
        await certified(context, 'during', whole);
        if (!(await moments.passed(wholeMs ?? 0))) return;
        await doAgain(breaks, 0);
        await certified(context, 'during', broken);
      }
    }
  }

  return {
    name,
    leastMs,

    async inject(given): Promise<void> {
      const context = within(given);
      const step = stepOf(name, context);
      await certified(context, 'before', whole);
      const act = await actOf(declared.breaks, context);
      step('begin');
      const proofs = await act(context, 0);
      step('done');
      for (const prove of proofs ?? []) await prove();
      await certified(context, 'during', broken);
    },

    ...(lasts.length === 0
      ? {}
      : {
          holds: (given) => {
            const context = within(given);
            return lasts.map((claim) => probes[claim](context));
          },
        }),

    goOn: (given, moments) => goOn(within(given), moments),

    async heal(given): Promise<void> {
      const context = within(given);
      if (isOverAtOnce === true) {
        await (await actOf(declared.mends, context))(context, 0);
        await certified(context, 'after', whole);
      } else if (staysBroken(declared, context.scenario)) {
        const detail = 'left down, as the scenario says; the clean-up starts it';
        stepOf(name, context)('healed', detail);
      } else if (mendsAt === undefined || (await context.machine.state()) !== 'running') {
        await mend(context);
      }
    },
  };
}
