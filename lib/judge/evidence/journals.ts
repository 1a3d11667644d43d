/** What the clients' answers say, what a run's records lack by what their writers said when they ended them, and what may not be judged by them. */
import {
  ClientJournals,
  type History,
  type ImageLabel,
  type SegmentCounts,
  type SegmentSeal,
  type Tells,
  clientSides,
  runSegment,
  writerSegment,
} from '../../history/index.ts';
import { commitsToBeSeen, expectedSights } from './observers.ts';
import { cutOffWindowOf } from './steps.ts';
import {
  type BlindRead,
  type CutOffAnswers,
  ReadMeter,
  ReaderSightMeter,
  type Service,
  ServiceMeter,
  type StaleReads,
  type UnseenCommits,
  cutOffAnswerMeter,
  staleReadMeter,
  unseenCommitMeter,
} from '../timeline/clients.ts';
import { type Story, lookedUntilMs } from '../timeline/story.ts';
import { clientGaps, blindAfter, blindReads } from './clients.ts';
import { identitiesOf } from './identities.ts';

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

interface JournalGap {
  /** Or the name of another file. */
  readonly segment: string;
  /** A sentence. */
  readonly reason: string;
}

export function journalGaps(
  { tells, records }: Pick<Story, 'records'> & { readonly tells: Pick<Tells, 'ends'> },
  { seals, files }: Pick<History, 'seals' | 'files'>,
): JournalGap[] {
  if (!tells.ends) return [];
  const listed = records.find((record) => record.type === 'segments');
  const list = listed?.segments;
  const gaps = new Map([...seals].map(([name, seal]) => [name, gapsOf(seal)]));
  const find = (segment: string, what: string): void =>
    void gaps.set(segment, [...(gaps.get(segment) ?? []), what]);
  if (list === undefined) {
    find(runSegment, 'ends before the run listed what else there is');
  } else {
    for (const [name, told] of Object.entries(list)) {
      const counts = seals.get(name)?.counts;
      if (counts === undefined) find(name, `is missing: its writer reported ${tell(told)}`);
      else if (!isSame(counts, told)) {
        find(name, `holds ${tell(counts)}, and its writer reported ${tell(told)}`);
      }
    }
    for (const name of seals.keys()) {
      if (name !== runSegment && !Object.hasOwn(list, name))
        find(name, 'is not one that the run listed');
    }
  }
  return [
    ...[...gaps].flatMap(([segment, found]) =>
      found.map((what) => ({ segment, reason: `history segment ${segment} ${what}` })),
    ),
    ...changedFiles(listed?.files ?? {}, files),
  ];
}

/** The log of writes is no journal of a client's, but evidence as well. */
const changedFiles = (told: History['files'], files: History['files']): JournalGap[] =>
  Object.entries(told)
    .filter(([name, bytes]) => files[name] !== bytes)
    .map(([name, bytes]) => {
      const now = files[name] === undefined ? 'is missing' : `has ${files[name]} bytes`;
      return {
        segment: name,
        reason: `history file ${name} ${now}: the run reported ${bytes} bytes`,
      };
    });

/** Clients whose journals lack something: of their rows nobody can say that they were not sent. */
export function clientsWithGaps(
  gaps: readonly JournalGap[],
  { cuts }: Pick<History, 'cuts'>,
): ReadonlySet<string> {
  const segments = new Set([...gaps, ...cuts].map(({ segment }) => segment));
  return new Set(clientSides.filter((client) => segments.has(writerSegment(client))));
}

function gapsOf({ counts, end, brokenAt }: SegmentSeal): string[] {
  const gaps: string[] = [];
  if (brokenAt !== undefined) {
    gaps.push(`was altered: its frame ${brokenAt} is not the one that was written there`);
  }
  if (end === undefined) {
    gaps.push(`was never ended: after its ${counts.records} records there may have been more`);
  } else if (!isSame(counts, end)) {
    gaps.push(`holds ${tell(counts)}, and its end says ${tell(end)}`);
  }
  return gaps;
}

const isSame = (a: SegmentCounts, b: SegmentCounts): boolean =>
  a.records === b.records && a.small === b.small && a.frames === b.frames && a.chain === b.chain;

const tell = ({ records, small, frames, chain }: SegmentCounts): string =>
  `${records} records (${small} of them small) in ${frames} frames with chain ${chain ?? 'none'}`;

/** What the records themselves lack, and what may therefore not be judged by them. */
interface RecordGaps {
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
