/** Seed 18, second half: a controller manager that dies in the wait begins it anew. */
import { toldInSeconds } from '../../durations.ts';
import { observed } from '../../history/observations.ts';
import {
  allSeen,
  firstSeen,
  linesOf,
  ofVictimPod,
  onVictim,
  type FinishedRun,
} from '../finished-run.ts';
import type { Reading } from '../seed.ts';

export function restartedInTheWait(run: FinishedRun): Reading {
  const { also, forceDetachAfterMs } = run.story.scenario;
  if (also !== 'controller-restart') return 'the controller manager was not restarted';
  const gone = firstSeen(run, observed.podGone, ofVictimPod(run));
  const detached = firstSeen(run, observed.attachmentGone, onVictim(run));
  if (gone === undefined || detached === undefined) return 'the volume was not detached';
  const leader = allSeen(run, observed.leaderAcquired, ({ t }) => t > gone.t && t < detached.t).at(
    -1,
  );
  if (leader === undefined) return 'no new controller manager led in the wait';
  const waitedMs = detached.t - leader.t;
  return {
    asExpected: waitedMs >= forceDetachAfterMs,
    said:
      `The new controller manager led ${toldInSeconds(leader.t - gone.t)} after the pod was ` +
      `gone, and the volume was detached ${toldInSeconds(waitedMs)} after that (the timer is ` +
      `${toldInSeconds(forceDetachAfterMs)}): ${toldInSeconds(detached.t - gone.t)} in all.`,
    evidence: linesOf(run, [gone, leader, detached]),
  };
}
