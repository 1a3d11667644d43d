/** When each step from fault to recovery happened, in seconds after the fault. */
import type { Phases } from '../verdict/verdict.ts';
import { firstAfterFault } from './first-after-fault.ts';
import type { MilestoneName } from './milestones.ts';
import type { Story } from './story.ts';

/** `firstSuccessorAckMs`: on the run's clock; from the operations. */
export function phasesOf(story: Story, firstSuccessorAckMs: number | undefined): Phases {
  const { faultAtMs, healAtMs } = story;
  const sinceFault = (atMs: number | undefined): number | null =>
    atMs === undefined || faultAtMs === undefined ? null : round(atMs - faultAtMs);
  const first = (name: MilestoneName): number | null => sinceFault(firstAfterFault(story, name)?.t);
  return {
    notReady: first('not-ready'),
    evicted: first('evicted'),
    podRemoved: first('pod-gone'),
    detached: first('detached'),
    attached: first('attached'),
    secondMount: first('mounted'),
    recovered: first('ready'),
    firstCommit: sinceFault(
      firstSuccessorAckMs !== undefined && firstSuccessorAckMs < healAtMs
        ? firstSuccessorAckMs
        : undefined,
    ),
  };
}

const round = (ms: number): number => Math.round(ms) / 1000;
