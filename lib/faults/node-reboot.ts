/**
 * Node reboot: a crash after which the node comes back by itself, at `rebootAt`: within the grace
 * period, after it, or just when its volume is taken away.
 */
import { whenInWords } from '../when.ts';
import { certify, stepOf, type ContextOf, type FaultOf } from './fault.ts';
import { nodeReboot as kind } from './kinds/node-reboot.ts';
import { crash, isDown } from './node-crash.ts';
import { isIn } from './probes.ts';

const { name, leastMs } = kind;

async function boot(context: ContextOf<typeof kind>): Promise<void> {
  const { testbed, recorder, victim } = context;
  const machine = testbed.machine(victim.node);
  const step = stepOf(name, context);
  // It is down from the kill until here.
  await certify(recorder, name, 'during', [isDown(machine)]);
  step('heal');
  await machine.start();
  step('healed');
  await certify(recorder, name, 'after', [isIn(machine, 'running', 'the victim runs again')]);
}

export const nodeReboot: FaultOf<typeof kind> = {
  name,
  leastMs,

  inject: (context) => crash(kind, context),

  async goOn(context, moments): Promise<void> {
    const { rebootAt } = context.scenario;
    if (await moments.reached(rebootAt)) await boot(context);
    else
      stepOf(name, context)(
        'failed',
        `the watch was over before it booted: ${whenInWords(rebootAt)}`,
      );
  },

  async heal(context): Promise<void> {
    const state = await context.testbed.machine(context.victim.node).state();
    if (state !== 'running') await boot(context);
  },
};
