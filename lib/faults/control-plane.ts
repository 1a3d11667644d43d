/** Faults of the control plane: the victim is whole, what decides about it is not. */
import type { Component, ComponentLook, ControlPlane } from '../cluster/control-plane-port.ts';
import { certify, stepOf, type FaultOf, type Probe } from './fault.ts';
import { apiOutage as apiServer } from './kinds/api-outage.ts';
import { attacherDown as attacher } from './kinds/attacher-down.ts';
import { controllerRestart as kind } from './kinds/controller-restart.ts';
import { lastingFault } from './lasting.ts';

const words: Readonly<Record<Component, string>> = {
  'controller-manager': 'the controller manager',
  'api-server': 'the API server',
  attacher: 'the csi-attacher',
};

type Looking = Required<Pick<ControlPlane, 'look'>>;

const seen = (
  controlPlane: Looking,
  component: Component,
  claim: string,
  holds: (look: ComponentLook) => boolean,
): Probe => ({
  claim,
  ask: async () => {
    const look = await controlPlane.look(component);
    const { process, stalled } = look;
    const evidence =
      process === undefined ? 'no process' : `process ${process}${stalled ? ' stands still' : ''}`;
    return { holds: holds(look), evidence: `${component}: ${evidence}` };
  },
});

const runs = (controlPlane: Looking, component: Component): Probe =>
  seen(
    controlPlane,
    component,
    `${words[component]} runs`,
    ({ process, stalled }) => process !== undefined && !stalled,
  );

/** The component stands still until the heal: it answers nobody, and nothing takes its place. */
const outage = (
  declared: typeof apiServer | typeof attacher,
  component: Component,
): FaultOf<typeof declared> =>
  lastingFault(declared, {
    breaks: ({ testbed }) => testbed.controlPlane.stall(component),
    mends: ({ testbed }) => testbed.controlPlane.resume(component),
    whole: ({ testbed }) => [runs(testbed.controlPlane, component)],
    broken: ({ testbed }) => {
      const claim = `${words[component]} stands still`;
      return [seen(testbed.controlPlane, component, claim, ({ stalled }) => stalled)];
    },
  });

export const apiOutage = outage(apiServer, 'api-server');
export const attacherDown = outage(attacher, 'attacher');

const restarted = 'controller-manager';
/** A kubelet starts a static pod's container again within seconds. */
const restartWithinMs = 60_000;

const { name, leastMs } = kind;

/** The controller manager is killed; the next one begins every wait anew. */
export const controllerRestart: FaultOf<typeof kind> = {
  name,
  leastMs,

  async inject(context): Promise<void> {
    const { recorder, testbed } = context;
    const { controlPlane } = testbed;
    const step = stepOf(name, context);
    await certify(recorder, name, 'before', [runs(controlPlane, restarted)]);
    const before = (await controlPlane.look(restarted)).process;
    step('begin');
    await controlPlane.kill(restarted);
    step('done');
    const claim = `process ${before} of the controller manager is gone`;
    await certify(recorder, name, 'during', [
      seen(controlPlane, restarted, claim, ({ process }) => process !== before),
    ]);
  },

  async heal({ recorder, testbed }): Promise<void> {
    const { clock, controlPlane } = testbed;
    const deadlineMs = clock.nowMs() + restartWithinMs;
    while ((await controlPlane.look(restarted)).process === undefined) {
      if (clock.nowMs() >= deadlineMs) break;
      await clock.sleep(1000);
    }
    await certify(recorder, name, 'after', [runs(controlPlane, restarted)]);
  },
};
