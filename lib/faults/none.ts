/** No fault: the node is whole, and what happens to its database is a remedy's doing alone. */
import { certify, stepOf, type Fault, type FaultContext, type Probe } from './fault.ts';
import { agentsRun, isIn, reachability } from './probes.ts';

const name = 'none';

/** Its certificates say that nothing was broken while the remedy acted. */
export const none: Fault = {
  name,
  leastMs: 0,

  async inject(context: FaultContext): Promise<void> {
    const step = stepOf(name, context);
    await certify(context.recorder, name, 'before', whole(context));
    step('begin');
    step('done');
    await certify(context.recorder, name, 'during', whole(context));
  },

  async heal(context: FaultContext): Promise<void> {
    const step = stepOf(name, context);
    step('heal');
    step('healed');
    await certify(context.recorder, name, 'after', whole(context));
  },
};

function whole({ testbed, victim }: FaultContext): Probe[] {
  const machine = testbed.machine(victim.node);
  return [
    isIn(machine, 'running', 'the victim runs'),
    agentsRun(machine),
    ...reachability(machine, true),
  ];
}
