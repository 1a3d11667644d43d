/** A worker thread: what a finished run came to. In the runner's own thread it would stop timers. */
import { join } from 'node:path';
import {
  assembleVerdict,
  isStarved,
  timerLagsOf,
  pressureOf,
  type Verdict,
  tellStory,
} from '../../judge/index.ts';
import { describeError, answerTasks, sha256OfFile } from '../../core/index.ts';
import { openHistory, type History } from '../../history/index.ts';
import type { RunOutcome } from '../../batch/index.ts';
import { mysql } from '../../mysql/index.ts';
import { writeRun } from '../../report/index.ts';

export interface TrialOutputRequest {
  readonly folder: string;
  /** `all`: a page of its own also where it was safe, as expected. */
  readonly reports: 'all' | 'unexpected';
}

export type Conclusion = { readonly outcome: RunOutcome } | { readonly error: string };

answerTasks(async ({ folder, reports }: TrialOutputRequest): Promise<Conclusion> => {
  try {
    const history = openHistory(folder);
    const verdict = assembleVerdict(history, { database: mysql });
    const page = reports === 'all' || !verdict.asExpected || verdict.verdict !== 'safe';
    await writeRun(folder, verdict, history, { database: mysql, page });
    const verdictSha256 = sha256OfFile(join(folder, 'verdict.json'));
    return { outcome: { ...outcomeOf(verdict, history), verdictSha256 } };
  } catch (error) {
    return { error: describeError(error) };
  }
});

function outcomeOf(verdict: Verdict, history: History): RunOutcome {
  const story = tellStory([...history.smallRecords()], mysql);
  const lags = timerLagsOf(story);
  const { verdict: word, safety, asExpected, basis, noticed, acked, lost, loss, missing } = verdict;
  const { availability, serving, exposure, phases, sentence, incompleteBecause } = verdict;
  return {
    ...{ verdict: word, safety, asExpected, basis, noticed, acked, lost, missing },
    downtimeMs: availability.downtimeMs,
    served: serving.served,
    ...(loss === null ? {} : { beforeFault: loss.beforeFault }),
    exposureMs: exposure.ms,
    secondMountS: phases.secondMount,
    ...{ sentence, incompleteBecause },
    starved: isStarved(verdict.reasons),
    worstTimerLagMs: Math.max(0, ...lags),
    timerDistortion: distortionOf(lags),
    pressure: pressureOf(story),
  };
}

/** The canary's timer is set for a second each time, once it has fired. */
function distortionOf(lagsMs: readonly number[]): number {
  const lateMs = lagsMs.reduce((sum, lag) => sum + lag, 0);
  return lagsMs.length === 0 ? 0 : Number((lateMs / (lagsMs.length * 1000 + lateMs)).toFixed(5));
}
