/** Faults of the control plane: the victim is whole, what decides about it is not. */
import type { Component, ControlPlane } from '../cluster/port.ts';
import {
  certify,
  heartbeatMs,
  stepOf,
  type Fault,
  type FaultContext,
  type Probe,
  type Moments,
} from './fault.ts';
import { lastingFault } from './lasting.ts';

const words: Readonly<Record<Component, string>> = {
  'controller-manager': 'the controller manager',
  'api-server': 'the API server',
  attacher: 'the csi-attacher',
};

const seen = (
  controlPlane: ControlPlane,
  component: Component,
  claim: string,
  holds: (look: Awaited<ReturnType<ControlPlane['look']>>) => boolean,
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

const runs = (controlPlane: ControlPlane, component: Component): Probe =>
  seen(
    controlPlane,
    component,
    `${words[component]} runs`,
    ({ process, stalled }) => process !== undefined && !stalled,
  );

/** The component stands still until the heal: it answers nobody, and nothing takes its place. */
const outage = (name: 'api-outage' | 'attacher-down', component: Component): Fault =>
  lastingFault({
    name,
    breaks: ({ testbed }) => testbed.controlPlane.stall(component),
    mends: ({ testbed }) => testbed.controlPlane.resume(component),
    whole: ({ testbed }) => [runs(testbed.controlPlane, component)],
    broken: ({ testbed }) => {
      const claim = `${words[component]} stands still`;
      return [seen(testbed.controlPlane, component, claim, ({ stalled }) => stalled)];
    },
  });

export const apiOutage = outage('api-outage', 'api-server');
export const attacherDown = outage('attacher-down', 'attacher');

const restarted = 'controller-manager';
/** A kubelet starts a static pod's container again within seconds. */
const restartWithinMs = 60_000;

/** The controller manager is killed; the next one begins every wait anew. */
export const controllerRestart: Fault = {
  name: 'controller-restart',
  leastMs: heartbeatMs,

  async inject(context: FaultContext): Promise<void> {
    const { recorder, testbed } = context;
    const { controlPlane } = testbed;
    const step = stepOf('controller-restart', context);
    await certify(recorder, 'controller-restart', 'before', [runs(controlPlane, restarted)]);
    const before = (await controlPlane.look(restarted)).process;
    step('begin');
    await controlPlane.kill(restarted);
    step('done');
    const claim = `process ${before} of the controller manager is gone`;
    await certify(recorder, 'controller-restart', 'during', [
      seen(controlPlane, restarted, claim, ({ process }) => process !== before),
    ]);
  },

  async heal({ recorder, testbed }: FaultContext): Promise<void> {
    const { clock, controlPlane } = testbed;
    const deadlineMs = clock.nowMs() + restartWithinMs;
    while ((await controlPlane.look(restarted)).process === undefined) {
      if (clock.nowMs() >= deadlineMs) break;
      await clock.sleep(1000);
    }
    await certify(recorder, 'controller-restart', 'after', [runs(controlPlane, restarted)]);
  },
};

/** About as often as a busy operator reconciles; faster than any kubelet renews. */
export const leaseWriteMs = 1000;

const annotated = ({ testbed, victim: { node } }: FaultContext, expected: boolean): Probe => ({
  claim: expected ? 'somebody writes to the victim’s Lease' : 'nobody wrote to the victim’s Lease',
  ask: async () => {
    const value = await testbed.kubernetes.leaseAnnotation(node);
    const evidence = `Lease ${node}: ${value === undefined ? 'no annotation' : `annotation ${value}`}`;
    return { holds: (value !== undefined) === expected, evidence };
  },
});

// The Lease goes with its node, which a remedy may delete: that is no end of the writing.
const { holds: _, ...annotation } = lastingFault({
  name: 'lease-write',
  breaks: ({ testbed, victim }) => testbed.kubernetes.annotateLease(victim.node, '0'),
  mends: ({ testbed, victim }) => testbed.kubernetes.annotateLease(victim.node, undefined),
  whole: (context) => [annotated(context, false)],
  broken: (context) => [annotated(context, true)],
});

/**
 * Somebody writes to the victim's Lease, such as a tool that notes something there, and renews nothing.
 * Since 1.37 a node whose Lease has another version than at its last renewal is not given up
 * (docs/internals/model.md); alone, beside a kubelet that renews, it changes nothing.
 */
export const leaseWrite: Fault = {
  ...annotation,

  async goOn({ testbed, victim }: FaultContext, moments: Moments): Promise<void> {
    for (let count = 1; await moments.passed(leaseWriteMs); count += 1)
      await testbed.kubernetes.annotateLease(victim.node, `${count}`);
  },
};
