/** Claim 35: which step of the chain each second of the outage belongs to. */
import { firstAfterFault, type Phases } from '../../../lib/judge/index.ts';
import { recordLines } from '../recorded-run.ts';
import type { Claim } from '../claim.ts';

/** Each ends with the next; in the order in which Kubernetes takes them. */
const steps: readonly (readonly [keyof Phases, string])[] = [
  ['notReady', 'noticing'],
  ['evicted', 'toleration'],
  ['podRemoved', 'remedy'],
  ['detached', 'waiting for the unmount and detaching'],
  ['attached', 'attaching'],
  ['secondMount', 'mounting'],
  ['firstCommit', 'starting the database'],
];

/** Those that the first steps end with, by what Kubernetes tells of them. */
const milestones = ['not-ready', 'evicted', 'pod-gone', 'detached'] as const;

/** What may stay unexplained of an outage. */
const tolerance = 0.01;

export const failedSteps: Claim = {
  number: 35,
  title: 'Every storage fault is a failed step',
  statement: 'Every fault of storage is a failed step of the chain attach, mount, unmount, detach.',
  expected: 'Each second of the outage can be attributed to one step by its records; none is left.',
  runs: ['node-crash --remedy force-delete', 'network-partition --remedy out-of-service'],
  read(run) {
    const { phases } = run.verdict;
    const total = phases.firstCommit;
    if (total === null) return 'the database did not come back before the heal';
    let lastS = 0;
    const parts: string[] = [];
    let unexplainedS = 0;
    for (const [phase, name] of steps) {
      const atS = phases[phase];
      // A step that left no record, or came out of order, explains nothing.
      if (atS === null || atS < lastS) continue;
      parts.push(`${name} ${(atS - lastS).toFixed(1)} s`);
      if (missingBefore(phase, phases)) unexplainedS += atS - lastS;
      lastS = atS;
    }
    return {
      asExpected: unexplainedS <= total * tolerance,
      said:
        `${total.toFixed(1)} s without the database: ${parts.join(', ')}; ` +
        `${unexplainedS.toFixed(1)} s unexplained.`,
      evidence: recordLines(
        run,
        milestones.map((name) => firstAfterFault(run.story, name)),
      ),
    };
  },
};

/** Whether the step before this one left no record, so that its time cannot be told from this one's. */
function missingBefore(phase: keyof Phases, phases: Phases): boolean {
  const before = steps[steps.findIndex(([name]) => name === phase) - 1];
  // A taint evicts and removes at once: the pod need not be seen Terminating.
  if (before === undefined || before[0] === 'evicted') return false;
  return phases[before[0]] === null;
}
