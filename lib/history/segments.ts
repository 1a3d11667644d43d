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
export function openSegments(folder: string, read = readSegment): Segments {
  const directory = join(folder, 'history');
  if (!existsSync(directory)) {
    throw new EvidenceError('HISTORY_MISSING', `there is no history in ${folder}`, {
      hint: 'give the folder of a run, the one that holds verdict.json',
    });
  }
  const names = readdirSync(directory)
    .toSorted()
    .filter((file) => file.endsWith(suffixes.frames))
    .map((file) => file.slice(0, -suffixes.frames.length));
  return new Map(names.map((name) => [name, read(directory, name)]));
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
