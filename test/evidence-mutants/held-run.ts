/** A run's history in memory, to be altered and written anew: by the proper writer, so it is resealed. */
import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type {
  HistoryRecord,
  RowRecord,
  SegmentCounts,
  SmallRecord,
} from '../../lib/history/records.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { historyDirectory, runSegment } from '../../lib/history/recorder.ts';
import { otherFiles } from '../../lib/history/seals.ts';
import { Segment, suffixes } from '../../lib/history/segment.ts';
import { readSegment } from '../../lib/history/segment-reader.ts';
import { decodeLines } from '../../lib/history/lines.ts';
import { tellStory, type Story } from '../../lib/judge/timeline/story.ts';
import { mysql } from '../../lib/mysql/database.ts';

export type TimedRecord = Exclude<HistoryRecord, RowRecord>;

export interface HeldSegment {
  readonly client: string | undefined;
  records: HistoryRecord[];
}

export interface HeldRun {
  /** By name. An alteration may take one away, or replace its records; records are never altered in place. */
  readonly segments: Map<string, HeldSegment>;
  /** The run's folder: files that are no segments are copied from it. */
  readonly folder: string;
  /** Such files that are not to be copied. */
  readonly without: Set<string>;
  readonly story: Story;
}

export function holdRun(folder: string): HeldRun {
  const directory = join(folder, 'history');
  const names = readdirSync(directory)
    .filter((file) => file.endsWith(suffixes.frames))
    .map((file) => file.slice(0, -suffixes.frames.length));
  const segments = new Map(names.map((name) => [name, holdSegment(directory, name)]));
  const records: SmallRecord[] = [...openHistory(folder).smallRecords()];
  return { segments, folder, without: new Set(), story: tellStory(records, mysql) };
}

/** The same, to be altered. */
export const copyOf = ({ segments, folder, without, story }: HeldRun): HeldRun => ({
  segments: new Map([...segments].map(([name, segment]) => [name, { ...segment }])),
  folder,
  without: new Set(without),
  story,
});

function holdSegment(directory: string, name: string): HeldSegment {
  const records: HistoryRecord[] = [];
  let owner: string | undefined;
  const image = name.slice('rows-'.length) as RowRecord['image'];
  for (const chunk of readSegment(directory, name).chunks) {
    owner = chunk.client;
    decodeLines(chunk.lines(), chunk, {
      operation: ({ atUs, what, connection, session, seq, error }, by) => {
        const about = { t: atUs / 1000, client: by, connection, session, seq };
        if (what === 'append' || what === 'transfer') {
          records.push({ type: 'invoke', ...about, kind: what });
        } else {
          const said = error === undefined || error === '' ? {} : { error };
          records.push({ type: 'outcome', ...about, outcome: what, ...said });
        }
      },
      row: (row) => records.push({ type: 'row', image, row }),
      record: (record) => records.push(record),
    });
  }
  return { client: owner, records };
}

export interface WrittenRun extends Pick<HeldRun, 'segments' | 'folder'> {
  readonly counts: Readonly<Record<string, SegmentCounts>>;
}

interface WriteOptions {
  /** Of files that are no segments, before they are listed. */
  readonly alterFiles?: (directory: string) => void;
  /** Segments whose records are the same are copied from it. */
  readonly like?: WrittenRun;
}

/** `folder` is new. Ends, chains and the run's list of its files are made again as well. */
export function writeRun(
  run: HeldRun,
  folder: string,
  { alterFiles, like }: WriteOptions = {},
): WrittenRun {
  const { segments } = run;
  const directory = writeFiles(run, folder, alterFiles);
  const counts: Record<string, SegmentCounts> = {};
  const listed = () => ({ segments: counts, files: otherFiles(directory) });
  const write = (name: string, { client, records }: HeldSegment): SegmentCounts => {
    const known = like?.segments.get(name)?.records === records ? like.counts[name] : undefined;
    if (like !== undefined && known !== undefined) {
      const file = name + suffixes.frames;
      copyFileSync(join(historyDirectory(like.folder), file), join(directory, file));
      return known;
    }
    const segment = new Segment({ directory, name, ...(client === undefined ? {} : { client }) });
    for (const record of records) {
      segment.append(record.type === 'segments' ? { ...record, ...listed() } : record);
    }
    return segment.close();
  };
  // The run's own comes last, since it lists the others.
  for (const [name, segment] of segments) {
    if (name !== runSegment) counts[name] = write(name, segment);
  }
  const own = segments.get(runSegment);
  if (own !== undefined) write(runSegment, own);
  return { segments, folder, counts };
}

/** Files that are no segments. Returns the directory. */
export function writeFiles(
  { folder: from, without }: HeldRun,
  folder: string,
  alterFiles?: (directory: string) => void,
): string {
  mkdirSync(folder, { recursive: true });
  const directory = historyDirectory(folder);
  for (const file of readdirSync(join(from, 'history'))) {
    const isSegment = file.endsWith(suffixes.frames) || file.endsWith(suffixes.tail);
    if (!isSegment && !without.has(file)) {
      copyFileSync(join(from, 'history', file), join(directory, file));
    }
  }
  alterFiles?.(directory);
  return directory;
}
