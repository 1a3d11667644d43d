/** When each step from fault to recovery happened, in seconds after the fault. */
import type { Phases } from '../experiment/verdict/verdict.ts';
import type { ObservationRecord } from '../history/events.ts';
import { observed, type ObservedName } from '../history/observations.ts';
import { firstAfterFault, type Story } from './story.ts';

type Fits = (seen: ObservationRecord) => boolean;

/** `firstSuccessorAckMs`: on the run's clock; from the operations. */
export function phasesOf(story: Story, firstSuccessorAckMs: number | undefined): Phases {
  const { faultAtMs, healAtMs, victimNode, victimUid } = story;
  const sinceFault = (atMs: number | undefined): number | null =>
    atMs === undefined || faultAtMs === undefined ? null : round(atMs - faultAtMs);
  const first = (name: ObservedName, ...all: readonly Fits[]): number | null =>
    sinceFault(
      firstAfterFault(story, (seen) => seen.name === name && all.every((fits) => fits(seen)))?.t,
    );
  const onVictim: Fits = ({ node }) => node === victimNode;
  const ofVictimPod: Fits = ({ data }) => data['uid'] === victimUid;
  const elsewhere: Fits = ({ node }) => node !== undefined && node !== victimNode;
  return {
    notReady: first(observed.nodeReady, onVictim, ({ data }) => data['status'] !== 'True'),
    evicted: first(observed.podTerminating, ofVictimPod),
    podRemoved: first(observed.podGone, ofVictimPod),
    detached: first(observed.attachmentGone, onVictim),
    attached: first(observed.attachmentAttached, elsewhere),
    secondMount: first(observed.mounted, elsewhere),
    recovered: first(observed.podReady, elsewhere, ({ data }) => data['ready'] === true),
    firstCommit: sinceFault(
      firstSuccessorAckMs !== undefined && firstSuccessorAckMs < healAtMs
        ? firstSuccessorAckMs
        : undefined,
    ),
  };
}

const round = (ms: number): number => Math.round(ms) / 1000;
