/** A fault that lasts is asked again and again whether it still holds, until it is given back. */
import type { Capability, Clock } from '../../core/index.ts';
import { askAgainEveryMs } from '../../history/index.ts';
import { certify, type Fault, type FaultContext, type Moments, type Probe } from './fault.ts';

/** One that has not answered by then does not hold: a node that hangs must not hold up the run. */
const answerWithinMs = 30_000;

/** The same fault; what holds while it lasts is asked again meanwhile. */
export function askedAgain(fault: Fault): Fault {
  const { name, holds } = fault;
  if (holds === undefined) return fault;
  const askAgain = (context: FaultContext<Capability>): Promise<void> => {
    const { recorder, testbed } = context;
    const probes = holds(context).map((probe) => inTime(probe, testbed.clock));
    return certify(recorder, name, 'during', probes);
  };
  return {
    ...fault,
    askAgain,
    async goOn(context, moments): Promise<void> {
      await Promise.all([fault.goOn?.(context, moments), keepAsking(context, moments, askAgain)]);
    },
  };
}

async function keepAsking(
  context: FaultContext<Capability>,
  moments: Moments,
  askAgain: (context: FaultContext<Capability>) => Promise<void>,
): Promise<void> {
  const everyMs = askAgainEveryMs(context.scenario.graceMs);
  while (await moments.passed(everyMs)) await askAgain(context);
}

const inTime = ({ claim, ask }: Probe, clock: Clock): Probe => ({
  claim,
  ask: async () => {
    const answered = new AbortController();
    const late = clock
      .sleep(answerWithinMs, answered.signal)
      .then(() => ({ holds: false, evidence: `no answer within ${answerWithinMs / 1000} s` }));
    // Once there is an answer, nobody waits for the end of this.
    late.catch(() => undefined);
    try {
      return await Promise.race([ask(), late]);
    } finally {
      answered.abort();
    }
  },
});
