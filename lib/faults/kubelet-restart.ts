/** Kubelet restart: it forgets what it knew and reads mounts and pods anew; what it started runs on. */
import { certify, stepOf, type FaultOf } from './fault.ts';
import { kubeletRestart as kind } from './kinds/kubelet-restart.ts';
import { agentsRun, proven } from './probes.ts';

const { name, leastMs } = kind;

export const kubeletRestart: FaultOf<typeof kind> = {
  name,
  leastMs,

  async inject(context): Promise<void> {
    const { testbed, recorder, victim } = context;
    const machine = testbed.machine(victim.node);
    const step = stepOf(name, context);
    await certify(recorder, name, 'before', [agentsRun(machine)]);
    step('begin');
    const { before, after } = await machine.restartKubelet();
    step('done');
    const verified = before !== after && before !== undefined && after !== undefined;
    const evidence = `process ${before ?? 'none'}, then ${after ?? 'none'}`;
    await certify(recorder, name, 'during', [
      proven('another kubelet runs', { verified, evidence }),
    ]);
  },

  async heal({ testbed, recorder, victim }): Promise<void> {
    await certify(recorder, name, 'after', [agentsRun(testbed.machine(victim.node))]);
  },
};
