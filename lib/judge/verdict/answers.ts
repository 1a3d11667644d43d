/** What the clients' answers say: of the service, of other observers, and of the clients themselves. */
import { ClientJournals, type History } from '../../history/index.ts';
import { cutOffAnswerMeter, type CutOffAnswers } from '../timeline/cut-off-answers.ts';
import { ReadMeter } from '../timeline/read-heads.ts';
import { ReaderSightMeter, type BlindRead } from '../timeline/seen-by-readers.ts';
import { ServiceMeter, type Service } from '../timeline/service.ts';
import { staleReadMeter, type StaleReads } from '../timeline/stale-reads.ts';
import { lookedUntilMs, type Story } from '../timeline/story.ts';
import { unseenCommitMeter, type UnseenCommits } from '../timeline/unseen-commits.ts';
import { blindAfter } from '../evidence/client-gaps.ts';
import { commitsToBeSeen } from '../evidence/expected-sights.ts';
import { cutOffWindowOf } from '../evidence/fault-effect.ts';

export interface Answers {
  readonly service: Service;
  readonly staleReads: readonly StaleReads[];
  readonly reads: ReadMeter;
  readonly cutOff: CutOffAnswers;
  readonly journals: ClientJournals;
  readonly blindReads: readonly BlindRead[];
  readonly unseen: readonly UnseenCommits[];
}

/** One pass over all of them. */
export function answersIn(story: Story, history: History): Answers {
  const service = new ServiceMeter({
    faultAtMs: story.faultAtMs,
    endAtMs: lookedUntilMs(story),
    victimNode: story.victimNode,
  });
  const stale = staleReadMeter(story);
  const reads = new ReadMeter();
  const cutOff = cutOffAnswerMeter(cutOffWindowOf(story));
  const journals = new ClientJournals();
  const sights = new ReaderSightMeter(blindAfter(story));
  const unseen = unseenCommitMeter(commitsToBeSeen(story));
  for (const answer of history.answers(journals)) {
    if (answer.type === 'read') reads.see(answer);
    else service.see(answer);
    for (const meter of [stale, cutOff, sights, unseen]) meter.see(answer);
  }
  return {
    service: service.result(),
    staleReads: stale.result(),
    reads,
    cutOff: cutOff.result(),
    journals,
    blindReads: sights.result(),
    unseen: unseen.result(),
  };
}
