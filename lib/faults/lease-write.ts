/**
 * Somebody writes to the victim's Lease, such as a tool that notes something there, and renews nothing.
 * Since 1.37 a node whose Lease has another version than at its last renewal is not given up
 * (docs/internals/model.md); alone, beside a kubelet that renews, it changes nothing.
 */
import type { ContextOf, FaultOf, Probe } from './fault.ts';
import { leaseWrite as kind } from './kinds/lease-write.ts';
import { lastingFault } from './lasting.ts';

/** About as often as a busy operator reconciles; faster than any kubelet renews. */
export const leaseWriteMs = 1000;

const annotated = (
  { testbed, victim: { node } }: ContextOf<typeof kind>,
  expected: boolean,
): Probe => ({
  claim: expected ? 'somebody writes to the victim’s Lease' : 'nobody wrote to the victim’s Lease',
  ask: async () => {
    const value = await testbed.kubernetes.leaseAnnotation(node);
    const evidence = `Lease ${node}: ${value === undefined ? 'no annotation' : `annotation ${value}`}`;
    return { holds: (value !== undefined) === expected, evidence };
  },
});

// The Lease goes with its node, which a remedy may delete: that is no end of the writing.
const { holds: _, ...annotation } = lastingFault(kind, {
  breaks: ({ testbed, victim }) => testbed.kubernetes.annotateLease(victim.node, '0'),
  mends: ({ testbed, victim }) => testbed.kubernetes.annotateLease(victim.node, undefined),
  whole: (context) => [annotated(context, false)],
  broken: (context) => [annotated(context, true)],
});

export const leaseWrite: FaultOf<typeof kind> = {
  ...annotation,

  async goOn({ testbed, victim }, moments): Promise<void> {
    for (let count = 1; await moments.passed(leaseWriteMs); count += 1)
      await testbed.kubernetes.annotateLease(victim.node, `${count}`);
  },
};
