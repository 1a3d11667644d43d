/** What an experiment asks beyond who wrote and what is left, answered for its headline. */
import { medianOf } from '../../counts.ts';
import { secondsInWords } from '../../durations.ts';
import { ownSteps } from '../../timeline/licence-links.ts';
import type { Verdict } from './verdict.ts';
import { wayBack } from './way-back.ts';

type Told = Omit<Verdict, 'sentence'>;

/** A clause; undefined where the run asked no more, or its records do not answer. */
export function ownAnswer(verdict: Told): string | undefined {
  return [recreated, waitedAnew, refusedDetach, cameBack]
    .map((answer) => answer(verdict))
    .find((clause) => clause !== undefined);
}

/** When is a pod Ready that is deleted and comes back to its node? */
function recreated({ findings }: Told): string | undefined {
  const times = findings
    .find(({ code }) => code === 'PODS_RECREATED')
    ?.evidence.map(Number.parseFloat);
  const median = medianOf(times ?? []);
  return median === undefined || times === undefined
    ? undefined
    : `Ready after ${secondsInWords(median)} at the median of ${times.length} deletions`;
}

/** Does the wait for a lost node hold where the controller manager dies in it? */
function waitedAnew({ licence, phases }: Told): string | undefined {
  if (phases.secondMount === null || !licence.some(({ step }) => step === ownSteps.newManager))
    return undefined;
  return `the wait began anew, second mount after ${secondsInWords(phases.secondMount)}`;
}

/** Does Kubernetes attach a second node where the storage refuses to detach the first? */
const refusedDetach = ({ licence, phases }: Told): string | undefined =>
  phases.attached !== null && licence.some(({ step }) => step === ownSteps.uncertain)
    ? 'the refused detach kept no second node out'
    : undefined;

/** Does a node that gets its volume back use the mount that it had? */
function cameBack({ findings }: Told): string | undefined {
  const came = (word: string): boolean => findings.some(({ code }) => code === word);
  if (came(wayBack.old)) return 'the first node used its old mount';
  return came(wayBack.anew) ? 'the first node mounted anew' : undefined;
}

/** On a shared directory with one lock table a second database waits, and its mount says nothing. */
export const locksKeepApart = ({ scenario: { disk, fileLocks } }: Told): boolean =>
  disk === 'shared-file' && fileLocks === 'shared';
