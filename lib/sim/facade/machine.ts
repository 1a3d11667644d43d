/** The machine port on the model. */
import type { Machine } from '../../run/index.ts';
import type { NodeMachine } from '../machine.ts';
import type { Model } from '../model.ts';
import { measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';
import type { KernelDriver } from './kernel-driver.ts';

/** Numbers of kubelet processes, which the model does not otherwise need. */
const firstProcess = 1000;
const restarts = new WeakMap<NodeMachine, number>();

export function simMachine(
  { world, volumes, kubelet, machine: machineOf }: Model,
  driver: KernelDriver,
  node: string,
): Machine {
  const machine = machineOf(node);
  const command = <T>(work: (machine: NodeMachine) => T): Promise<T> =>
    driver.perform(draw(world, measuredTimes.machineCommand), () => work(machine));
  return {
    node,
    freeze: () => command(() => machine.freeze()),
    thaw: () => command(() => machine.thaw()),
    kill: () => command(() => machine.kill()),
    start: () => command(() => machine.start()),
    disconnect: () => command(() => machine.setConnected(false)),
    reconnect: () => command(() => machine.setConnected(true)),
    isolate: () => command(() => machine.setIsolated(true)),
    rejoin: () => command(() => machine.setIsolated(false)),
    stall: (what) => command(() => machine.stall(what)),
    resume: () => command(() => machine.resume()),
    stalled: () => command(() => machine.stalled),
    async restartKubelet() {
      const before = restarts.get(machine) ?? firstProcess;
      await command(() => machine.restartKubelet());
      restarts.set(machine, before + 1);
      return { before: `${before}`, after: `${before + 1}` };
    },
    killServer: () =>
      command(() => {
        const killed = volumes.map(({ index }) => kubelet(node).container(index)?.killServer());
        const verified = killed.includes(true);
        const { server } = world.database;
        return {
          verified,
          evidence: verified ? `${server} ended (model)` : `no ${server} (model)`,
        };
      }),
    throttle: (share) => command(() => machine.throttle(share)),
    unthrottle: () => command(() => machine.unthrottle()),
    throttled: () => command(() => machine.throttled),
    state: () => command(() => machine.state),
    reachesApi: () => command(() => machine.reachesApi && !world.apiServer.still),
    reachedFromOutside: () => command(() => machine.reachable),
  };
}
