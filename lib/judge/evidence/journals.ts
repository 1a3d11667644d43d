/** What the clients' answers say, what a run's records lack by what their writers said when they ended them, and what may not be judged by them. */
import {
  ClientJournals,
  type History,
  type SegmentCounts,
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
import { type Attended, absencesIn } from './attendance.ts';
import { blindAfter, blindReads, planGaps } from './clients.ts';

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
const fileGap = (kind: 'segment' | 'file', file: string, words: string): Reason =>
  because('FILE_GAP', `history ${kind} ${file} ${words}`, { file });

/** A reason for each file of the history that is not what its run listed, and each segment without its end. */
export function journalGaps(
  { tells, records }: Pick<Story, 'records'> & { readonly tells: Pick<Tells, 'ends' | 'hashes'> },
  { seals, files }: Pick<History, 'seals' | 'files'>,
): Reason[] {
  if (!tells.ends) return [];
  const list = records.findLast((record) => record.type === 'segments');
  const ends = [...seals].flatMap(([name, seal]) =>
    endGaps(seal).map((what) => fileGap('segment', name, what)),
  );
  if (list === undefined)
    return [
      ...ends,
      fileGap('segment', runSegment, 'ends before the run listed what else there is'),
    ];
  const segments = [...seals].filter(([name]) => name !== runSegment);
  // The log of writes is no client's journal, but evidence as well.
  const beside = Object.entries(files).filter(
    ([name]) => isWritesFile(name) || Object.hasOwn(list.files, name),
  );
  return [
    ...ends,
    ...differences(
      new Map(segments.map(([name, { counts }]) => [name, counts])),
      new Map(Object.entries(list.segments)),
      { kind: 'segment', isSame: isSameSegment, describe: describeSegment },
    ),
    ...differences(new Map(beside), new Map(Object.entries(list.files)), {
      kind: 'file',
      // Without a hash nothing shows whether it changed.
      isSame: (own, listed) =>
        isSameFile(own, listed) && !(tells.hashes && listed.sha256 === undefined),
      describe: ({ bytes, sha256 = 'none' }) => `${bytes} bytes with SHA-256 ${sha256}`,
    }),
  ];
}

interface Compared<Seal> {
  readonly kind: 'segment' | 'file';
  readonly isSame: (own: Seal, listed: Seal) => boolean;
  readonly describe: (seal: Seal) => string;
}

function differences<Seal>(
  there: ReadonlyMap<string, Seal>,
  listed: ReadonlyMap<string, Seal>,
  { kind, isSame, describe }: Compared<Seal>,
): Reason[] {
  const putBack = 'put back the one that the run wrote, or run again';
  return [...new Set([...listed.keys(), ...there.keys()])].flatMap((name) => {
    const [own, other] = [there.get(name), listed.get(name)];
    if (own === undefined) return [fileGap(kind, name, `is missing: ${putBack}`)];
    if (other === undefined) return [fileGap(kind, name, 'is not one that the run listed')];
    if (isSame(own, other)) return [];
    const both = `${describe(own)}, and the run listed ${describe(other)}`;
    return [fileGap(kind, name, `holds ${both}: ${putBack}`)];
  });
}

function endGaps({ counts, end, brokenAt }: SegmentSeal): string[] {
  const altered =
    brokenAt === undefined
      ? []
      : [`was altered: its frame ${brokenAt} is not the one that was written there`];
  if (end === undefined)
    return [
      ...altered,
      `was never ended: after its ${counts.records} records there may have been more`,
    ];
  return isSameSegment(counts, end)
    ? altered
    : [...altered, `holds ${describeSegment(counts)}, and its end says ${describeSegment(end)}`];
}

const describeSegment = ({ records, small, frames, chain }: SegmentCounts): string =>
  `${records} records (${small} of them small) in ${frames} frames with chain ${chain ?? 'none'}`;

/** What the records themselves lack, and what may therefore not be judged by them. */
interface RecordGaps {
  readonly reasons: readonly Reason[];
  /** Clients whose journals lack something: a row that they have not may have been sent all the same. */
  readonly withGaps: ReadonlySet<string>;
}

export function recordGaps(
  attended: Attended,
  history: Pick<History, 'seals' | 'files' | 'cuts'>,
  blind: readonly BlindRead[] = [],
): RecordGaps {
  const { story, journals } = attended;
  const clients = [
    ...planGaps(story, journals),
    ...absencesIn(attended, 'CLIENT_GAP'),
    ...blindReads(story, blind),
  ];
  const files = journalGaps(story, history);
  const cuts = history.cuts.map((cut) =>
    because('HISTORY_CUT', `the history is cut: ${JSON.stringify(cut)}`, { file: cut.segment }),
  );
  const lacking = new Set([...files, ...cuts].map(({ fields }) => fields['file']));
  return {
    reasons: [...clients, ...files, ...cuts],
    withGaps: new Set([
      ...clientSides.filter((client) => lacking.has(writerSegment(client))),
      ...clients.map(({ fields }) => String(fields['client'])),
    ]),
  };
}
