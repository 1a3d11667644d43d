/** What the records themselves lack, and what may therefore not be judged by them. */
import type { ImageLabel } from '../../history/events.ts';
import type { History } from '../../history/reader.ts';
import type { Story } from '../../timeline/story.ts';
import type { Answers } from '../verdict/answers.ts';
import { blindReads, clientGaps } from './client-gaps.ts';
import { expectedSights } from './expected-sights.ts';
import { identitiesOf } from './identities.ts';
import { clientsWithGaps, journalGaps } from './journal-gaps.ts';

export interface RecordGaps {
  /** Sentences. */
  readonly reasons: readonly string[];
  /** Clients of whose rows nobody can say that they were not sent. */
  readonly withGaps: ReadonlySet<string>;
  /** Images that are not proven to be of this run's volume and moment. */
  readonly without: ReadonlySet<ImageLabel>;
}

export function recordGaps(story: Story, history: History, answers: Answers): RecordGaps {
  const gaps = journalGaps(story, history);
  const clients = [
    ...clientGaps(story, answers.journals),
    ...blindReads(story, answers.blindReads),
  ];
  const { reasons, foreign } = identitiesOf(story);
  return {
    reasons: [
      ...reasons,
      ...clients.map(({ reason }) => reason),
      ...expectedSights(story, answers.unseen),
      ...gaps.map(({ reason }) => reason),
      ...history.cuts.map((cut) => `the history is cut: ${JSON.stringify(cut)}`),
    ],
    withGaps: new Set([...clientsWithGaps(gaps, history), ...clients.map(({ client }) => client)]),
    without: foreign,
  };
}
