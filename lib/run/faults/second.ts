/** A second fault beside the first: it comes at `alsoAt`, while the run is watched. */
import { type Capability, whenInWords } from '../../core/index.ts';
import { stepOf, type Fault, type FaultContext, type Moments } from './fault.ts';

/** Both as one fault. The second is healed `alsoForMs` later, or with the first. */
export function withSecond(first: Fault, second: Fault): Fault {
  let isBroken = false;
  const mend = async (context: FaultContext<Capability>): Promise<void> => {
    if (!isBroken) return;
    await second.heal(context);
    isBroken = false;
  };
  const goOnSecond = async (context: FaultContext<Capability>, moments: Moments): Promise<void> => {
    const { alsoAt, alsoForMs } = context.scenario;
    if (!(await moments.reached(alsoAt))) {
      stepOf(second.name, context)(
        'failed',
        `the watch was over before ${whenInWords(alsoAt)} came`,
      );
      return;
    }
    isBroken = true;
    await second.inject(context);
    const { clock } = context.testbed;
    const untilMs = clock.nowMs() + alsoForMs;
    const leftMs = (): number => untilMs - clock.nowMs();
    // What it goes on to do has ended when it is healed.
    const passed = (ms: number): Promise<boolean> =>
      ms < leftMs() ? moments.passed(ms) : Promise.resolve(false);
    await second.goOn?.(context, { ...moments, passed });
    if (!(await moments.passed(Math.max(0, leftMs())))) return;
    await second.askAgain?.(context);
    await mend(context);
  };
  return {
    name: first.name,
    leastMs: first.leastMs,
    inject: (context) => first.inject(context),
    async goOn(context, moments): Promise<void> {
      await Promise.all([first.goOn?.(context, moments), goOnSecond(context, moments)]);
    },
    async askAgain(context): Promise<void> {
      await first.askAgain?.(context);
      if (isBroken) await second.askAgain?.(context);
    },
    async heal(context): Promise<void> {
      try {
        await mend(context);
      } finally {
        await first.heal(context);
      }
    },
  };
}
