/** The segments of a run's history, and the operations in them: all that a journal is made of. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { EvidenceError } from '../errors.ts';
import { readOperations, visitOperations, type Operation } from './operations.ts';
import { rowsSegment } from './recorder.ts';
import { suffixes } from './segment.ts';
import { readSegment, type SegmentContent } from './segment-reader.ts';

/** By name. */
export type Segments = ReadonlyMap<string, SegmentContent>;

/** `folder` is the run's. Throws EvidenceError where it has no history, and what `read` throws. */
export function openSegments(
  folder: string,
  read: (directory: string, segment: string) => SegmentContent = readSegment,
): Segments {
  const directory = join(folder, 'history');
  if (!existsSync(directory)) {
    throw new EvidenceError('HISTORY_MISSING', `there is no history in ${folder}`, {
      hint: 'give the folder of a run, the one that holds verdict.json',
    });
  }
  return new Map(namesIn(directory).map((name) => [name, read(directory, name)]));
}

/** A tail without its frames is a segment too: its other file is missing. */
function namesIn(directory: string): string[] {
  const ends = Object.values(suffixes);
  const names = filesIn(directory).flatMap((file) => {
    const end = ends.find((each) => file.endsWith(each));
    return end === undefined ? [] : [file.slice(0, -end.length)];
  });
  return [...new Set(names)].toSorted();
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (cause) {
    throw new EvidenceError('HISTORY_DAMAGED', `${directory} can't be read`, { cause });
  }
}

/** Those whose records have times: all but the audited rows. */
export const timedSegments = (segments: Segments): SegmentContent[] =>
  [...segments].filter(([name]) => !name.startsWith(rowsSegment(''))).map(([, segment]) => segment);

/** Each operation once, by segment and there in the order in which they ended. */
export function* operationsOf(segments: Segments): Generator<Operation> {
  for (const { chunks } of timedSegments(segments)) yield* readOperations(chunks);
}

/** The same, one after the other: of millions, none is kept in memory. */
export function visitOperationsOf(
  segments: Segments,
  onOperation: (operation: Operation) => void,
): void {
  for (const { chunks } of timedSegments(segments)) visitOperations(chunks, onOperation);
}
