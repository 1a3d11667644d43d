/** Seed 26, second half: without an attach phase the second mount comes as soon as there is a pod. */
import { observed } from '../../history/observations.ts';
import { callsOf, firstSeen, linesOf, onVictim, since, type FinishedRun } from '../finished-run.ts';
import type { Reading } from '../seed.ts';

export function mountedAtEviction(run: FinishedRun): Reading {
  if (run.story.scenario.disk !== 'shared-file') return 'this disk is attached';
  const elsewhere = firstSeen(run, observed.podScheduled, (seen) => !onVictim(run)(seen));
  const published = callsOf(run, 'nodePublish').find(
    (seen) => !onVictim(run)(seen) && seen.t >= run.faultAtMs,
  );
  if (elsewhere === undefined || published === undefined) return 'no second pod came';
  const attached = firstSeen(run, observed.attachmentCreated);
  return {
    asExpected: attached === undefined,
    said:
      `${run.story.scenario.workload}: second pod at ${since(run, elsewhere.t)}, mounted ` +
      `${((published.t - elsewhere.t) / 1000).toFixed(1)} s later; ` +
      `${attached === undefined ? 'no' : 'a'} VolumeAttachment was made.`,
    evidence: linesOf(run, [elsewhere, published]),
  };
}
