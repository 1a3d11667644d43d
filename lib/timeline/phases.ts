/** When each step from fault to recovery happened, in seconds after the fault. */
import type { Phases } from '../experiment/verdict/verdict.ts';
import type { ObservationRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import { firstAfterFault, type Story } from './story.ts';

/** `firstSuccessorAckMs`: on the run's clock; from the operations. */
export function phasesOf(story: Story, firstSuccessorAckMs: number | undefined): Phases {
  const { faultAtMs, healAtMs, victimNode, victimUid } = story;
  const sinceFault = (atMs: number | undefined): number | null =>
    atMs === undefined || faultAtMs === undefined ? null : round(atMs - faultAtMs);
  const first = (fits: (observation: ObservationRecord) => boolean): number | null =>
    sinceFault(firstAfterFault(story, fits)?.t);
  const named =
    (name: string): ((observation: ObservationRecord) => boolean) =>
    (observation) =>
      observation.name === name;
  const ofVictimPod = (name: string) => (observation: ObservationRecord) =>
    observation.name === name && observation.data['uid'] === victimUid;
  const elsewhere = (name: string) => (observation: ObservationRecord) =>
    observation.name === name && observation.node !== undefined && observation.node !== victimNode;

  return {
    notReady: first(
      (seen) =>
        named(observed.nodeReady)(seen) &&
        seen.node === victimNode &&
        seen.data['status'] !== 'True',
    ),
    evicted: first(ofVictimPod(observed.podTerminating)),
    podRemoved: first(ofVictimPod(observed.podGone)),
    detached: first((seen) => named(observed.attachmentGone)(seen) && seen.node === victimNode),
    attached: first(elsewhere(observed.attachmentAttached)),
    secondMount: first(elsewhere(observed.mounted)),
    recovered: first((seen) => elsewhere(observed.podReady)(seen) && seen.data['ready'] === true),
    firstCommit: sinceFault(
      firstSuccessorAckMs !== undefined && firstSuccessorAckMs < healAtMs
        ? firstSuccessorAckMs
        : undefined,
    ),
  };
}

const round = (ms: number): number => Math.round(ms) / 1000;
