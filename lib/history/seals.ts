/** What a run lists of its history at its end, held against what is there. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError, sha256OfFile } from '../core/index.ts';
import { type LineSink, ignoring } from './lines.ts';
import type { FileSeal, SegmentCounts, SegmentsRecord } from './records.ts';
import { decodeChunk, type SegmentContent } from './segment-reader.ts';
import { suffixes } from './segment.ts';

/** Seals of the files beside the segments, by name. `isHashed`: default: each is. */
export function otherFiles(
  directory: string,
  isHashed: (name: string) => boolean = () => true,
): Readonly<Record<string, FileSeal>> {
  const ends = Object.values(suffixes);
  const names = readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !ends.some((end) => entry.name.endsWith(end)))
    .map(({ name }) => name)
    .toSorted();
  const sealOf = (path: string, isWanted: boolean): FileSeal => ({
    bytes: statSync(path).size,
    ...(isWanted && { sha256: sha256OfFile(path) }),
  });
  return Object.fromEntries(
    names.map((name) => [name, sealOf(join(directory, name), isHashed(name))]),
  );
}

/** The chain covers every byte of the frames. */
export const isSameSegment = (a: SegmentCounts, b: SegmentCounts): boolean =>
  a.records === b.records && a.small === b.small && a.frames === b.frames && a.chain === b.chain;

/** What has no hash is not held against one. */
export const isSameFile = (there: FileSeal | undefined, listed: FileSeal | undefined): boolean =>
  there?.bytes === listed?.bytes &&
  (listed?.sha256 === undefined || listed.sha256 === there?.sha256);

/** In the run's own segment, and in its last frame but for strange histories. Undefined where the run came to none, or it can't be read. */
export function listIn({ chunks }: SegmentContent): SegmentsRecord | undefined {
  for (const chunk of chunks.toReversed()) {
    let list: SegmentsRecord | undefined;
    const record: LineSink['record'] = (each) => {
      if (each.type === 'segments') list = sealed(each);
    };
    try {
      decodeChunk(chunk, { ...ignoring, record });
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
    }
    if (list !== undefined) return list;
  }
  return undefined;
}

/** Before version 4 the list had the size of a file alone. */
export const sealed = (list: SegmentsRecord): SegmentsRecord => ({
  ...list,
  files: Object.fromEntries(
    Object.entries<FileSeal | number>(list.files).map(([name, seal]) => [
      name,
      typeof seal === 'number' ? { bytes: seal } : seal,
    ]),
  ),
});
