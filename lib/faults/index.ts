/** Every fault by name. */
import type { FaultKind } from '../fault-kinds.ts';
import type { Scenario } from '../experiment/scenario.ts';
import { askedAgain } from './asked-again.ts';
import { apiOutage, attacherDown, controllerRestart, leaseWrite } from './control-plane.ts';
import { stepOf, type Fault, type FaultContext, type Moments } from './fault.ts';
import { flappingPartition, networkPartition } from './network-partition.ts';
import { kubeletRestart } from './kubelet-restart.ts';
import { nodeCrash, nodeReboot } from './node-crash.ts';
import { apiPartition, cpuStarvation, freeze, kubeletStall, none, runtimeStall } from './simple.ts';
import { withServerKills } from './server-kills.ts';

const faults: Readonly<Record<FaultKind, Fault>> = {
  none,
  'node-crash': nodeCrash,
  'node-reboot': nodeReboot,
  'network-partition': networkPartition,
  'api-partition': apiPartition,
  freeze,
  'kubelet-stall': kubeletStall,
  'runtime-stall': runtimeStall,
  'kubelet-restart': kubeletRestart,
  'cpu-starvation': cpuStarvation,
  'flapping-partition': flappingPartition,
  'controller-restart': controllerRestart,
  'api-outage': apiOutage,
  'attacher-down': attacherDown,
  'lease-write': leaseWrite,
};

/** The scenario's fault, or a caller's `own` in its place; with the second one where there is one, and with what leads up to it. */
export function faultOf({ fault, also, serverKills }: Scenario, own?: Fault): Fault {
  const first = askedAgain(own ?? faults[fault]);
  const whole = also === 'none' ? first : withSecond(first, askedAgain(faults[also]));
  return serverKills === 0 ? whole : withServerKills(whole);
}

/** Whether it is asked again, until its heal, if it still holds. */
export const isAskedAgain = (fault: FaultKind): boolean => faults[fault].holds !== undefined;

/** Both as one fault. The second comes at `alsoAt`, and is healed `alsoForMs` later, or with the first. */
export function withSecond(first: Fault, second: Fault): Fault {
  let isBroken = false;
  const mend = async (context: FaultContext): Promise<void> => {
    if (!isBroken) return;
    await second.heal(context);
    isBroken = false;
  };
  const goOnSecond = async (context: FaultContext, moments: Moments): Promise<void> => {
    const { alsoAt, alsoForMs } = context.scenario;
    if (!(await moments.reached(alsoAt))) {
      stepOf(second.name, context)('failed', `the watch was over before ${alsoAt} came`);
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
