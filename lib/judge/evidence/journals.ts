/** What the clients' answers say, what a run's records lack by what their writers said when they ended them, and what may not be judged by them. */
import {
  ClientJournals,
  type FileSeal,
  type History,
  type SegmentCounts,
  type SegmentList,
  type SegmentSeal,
  type Tells,
  clientSides,
  isSameFile,
  isSameSegment,
  isWritesFile,
  runSegment,
  writerSegment,
} from '../../history/index.ts';
import { type Served, servedMeter } from '../facts/served.ts';
import { type Reason, because } from '../facts/witnessed.ts';
import {
  type BlindRead,
  ReadMeter,
  ReaderSightMeter,
  Servers,
  type Service,
  ServiceMeter,
  type StaleReads,
  measure,
  staleReadMeter,
} from '../timeline/clients.ts';
import { type Story, lookedUntilMs } from '../timeline/story.ts';
import { clientGaps, blindAfter, blindReads } from './clients.ts';

export interface Answers {
  readonly service: Service;
  readonly staleReads: readonly StaleReads[];
  readonly reads: ReadMeter;
  readonly served: readonly Served[];
  readonly journals: ClientJournals;
  readonly blindReads: readonly BlindRead[];
}

/** One pass over all of them. */
export function answersIn(story: Story, history: History): Answers {
  const service = new ServiceMeter({
    faultAtMs: story.faultAtMs,
    endAtMs: lookedUntilMs(story),
    victimNode: story.victimNode,
  });
  const servers = new Servers();
  const stale = staleReadMeter(story, servers);
  const reads = new ReadMeter();
  const served = servedMeter();
  const journals = new ClientJournals();
  const sights = new ReaderSightMeter(blindAfter(story), servers);
  measure(history.answers(journals), [service, stale, reads, served, sights], servers);
  return {
    service: service.result(),
    staleReads: stale.result(),
    reads,
    served: served.result(),
    journals,
    blindReads: sights.result(),
  };
}

/** `file`: a segment's name, or another's. */
const fileGap = (file: string, words: string): Reason => because('FILE_GAP', words, { file });

/** What to do about a file that is not the run's own. */
const putBack = 'put back the one that the run wrote, or run again';

/** A reason for each file of the history that is not what its run listed, and each segment without its end. */
export function journalGaps(
  { tells, records }: Pick<Story, 'records'> & { readonly tells: Pick<Tells, 'ends' | 'hashes'> },
  { seals, files }: Pick<History, 'seals' | 'files'>,
): Reason[] {
  if (!tells.ends) return [];
  const list = records.findLast((record) => record.type === 'segments');
  const gaps = [...seals].flatMap(([name, seal]) => gapsOf(seal).map((what) => [name, what]));
  if (list === undefined) gaps.push([runSegment, 'ends before the run listed what else there is']);
  else gaps.push(...strangeSegments(list.segments, seals));
  return [
    ...gaps.map(([segment = '', what]) => fileGap(segment, `history segment ${segment} ${what}`)),
    ...(list === undefined ? [] : strangeFiles(list.files, files, tells)),
  ];
}

function strangeSegments(list: SegmentList, seals: History['seals']): [string, string][] {
  const gaps = Object.entries(list).flatMap(([name, listed]): [string, string][] => {
    const counts = seals.get(name)?.counts;
    if (counts === undefined) return [[name, `is missing: ${putBack}`]];
    if (isSameSegment(counts, listed)) return [];
    return [[name, `holds ${tell(counts)}, and its writer reported ${tell(listed)}: ${putBack}`]];
  });
  const others = [...seals.keys()].filter(
    (name) => name !== runSegment && !Object.hasOwn(list, name),
  );
  return [
    ...gaps,
    ...others.map((name): [string, string] => [name, 'is not one that the run listed']),
  ];
}

/** The log of writes is no journal of a client's, but evidence as well. */
function strangeFiles(
  listed: History['files'],
  files: History['files'],
  { hashes }: Pick<Tells, 'hashes'>,
): Reason[] {
  const names = new Set([...Object.keys(listed), ...Object.keys(files).filter(isWritesFile)]);
  return [...names].flatMap((name) => {
    const what = strangeness(files[name], listed[name], hashes);
    return what === undefined ? [] : [fileGap(name, `history file ${name} ${what}`)];
  });
}

function strangeness(
  there: FileSeal | undefined,
  listed: FileSeal | undefined,
  hashes: boolean,
): string | undefined {
  if (there === undefined) return `is missing: ${putBack}`;
  if (listed === undefined) return 'is not one that the run listed';
  if (there.bytes !== listed.bytes) {
    return `has ${there.bytes} bytes, and the run listed ${listed.bytes}: ${putBack}`;
  }
  if (!isSameFile(there, listed)) {
    return `has the SHA-256 ${there.sha256}, and the run listed ${listed.sha256}: ${putBack}`;
  }
  const isUnsealed = hashes && listed.sha256 === undefined;
  return isUnsealed
    ? 'has no hash in the list of the run: whether it changed is unknown'
    : undefined;
}

/** Clients whose journals lack something: of their rows nobody can say that they were not sent. */
export function clientsWithGaps(
  gaps: readonly Reason[],
  { cuts }: Pick<History, 'cuts'>,
): ReadonlySet<string> {
  const segments = new Set([
    ...gaps.map(({ fields }) => fields['file']),
    ...cuts.map(({ segment }) => segment),
  ]);
  return new Set(clientSides.filter((client) => segments.has(writerSegment(client))));
}

function gapsOf({ counts, end, brokenAt }: SegmentSeal): string[] {
  const gaps: string[] = [];
  if (brokenAt !== undefined) {
    gaps.push(`was altered: its frame ${brokenAt} is not the one that was written there`);
  }
  if (end === undefined) {
    gaps.push(`was never ended: after its ${counts.records} records there may have been more`);
  } else if (!isSameSegment(counts, end)) {
    gaps.push(`holds ${tell(counts)}, and its end says ${tell(end)}`);
  }
  return gaps;
}

const tell = ({ records, small, frames, chain }: SegmentCounts): string =>
  `${records} records (${small} of them small) in ${frames} frames with chain ${chain ?? 'none'}`;

export const cutsIn = ({ cuts }: Pick<History, 'cuts'>): Reason[] =>
  cuts.map((cut) =>
    because('HISTORY_CUT', `the history is cut: ${JSON.stringify(cut)}`, { file: cut.segment }),
  );

/** What the records themselves lack, and what may therefore not be judged by them. */
interface RecordGaps {
  readonly reasons: readonly Reason[];
  /** Clients of whose rows nobody can say that they were not sent. */
  readonly withGaps: ReadonlySet<string>;
}

export function recordGaps(story: Story, history: History, answers: Answers): RecordGaps {
  const gaps = journalGaps(story, history);
  const clients = [
    ...clientGaps(story, answers.journals),
    ...blindReads(story, answers.blindReads),
  ];
  return {
    reasons: [...clients, ...gaps, ...cutsIn(history)],
    withGaps: new Set([
      ...clientsWithGaps(gaps, history),
      ...clients.map(({ fields }) => String(fields['client'])),
    ]),
  };
}
