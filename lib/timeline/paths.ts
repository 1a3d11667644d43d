/** The paths to the disk, read from its log of writes: from when to when each was open. */
import { linkFlags, writeOps, type WriteLog, type WriteRecord } from '../history/writes.ts';
import type { Access } from './access.ts';
import { nodesOf } from './write-marks.ts';

const ends = new Set<number>([writeOps.cut, writeOps.powerLost, writeOps.close]);
/** What the disk took proves that the path was open, whatever was said before. */
const taken = new Set<number>([writeOps.write, writeOps.zero, writeOps.flushBegin]);

/** How a path without a node is called: its generation is missing in paths.json. */
const unknownNode = (generation: number): string => `unknown node of generation ${generation}`;

/** A path that is not closed lasts until `endAtMs`; while its link is severed it is shut. */
export function pathsIn(log: WriteLog, endAtMs: number): Access[] {
  const nodeOf = nodesOf(log);
  const open = new Map<number, { readonly fromMs: number; bytesWritten: number }>();
  const severed = new Set<number>();
  const found: Access[] = [];
  const end = (generation: number, atMs: number): void => {
    const path = open.get(generation);
    if (path === undefined) return;
    open.delete(generation);
    const node = nodeOf.get(generation) ?? unknownNode(generation);
    found.push({ node, generation, ...path, toMs: Math.max(path.fromMs, atMs) });
  };
  for (let index = 0; index < log.length; index += 1) {
    const record = log.at(index);
    const { generation, op, length } = record;
    const atMs = log.atMs(index);
    if (ends.has(op)) severed.delete(generation);
    else if (severs(record) && open.has(generation)) severed.add(generation);
    const isBack = passes(record) && severed.delete(generation);
    if (ends.has(op) || severs(record)) end(generation, atMs);
    // What was under way when the link was severed may still be carried out.
    else if (severed.has(generation)) continue;
    else if ((isBack || op === writeOps.open || taken.has(op)) && !open.has(generation))
      open.set(generation, { fromMs: atMs, bytesWritten: 0 });
    const path = op === writeOps.write ? open.get(generation) : undefined;
    if (path !== undefined) path.bytesWritten += length;
  }
  for (const generation of open.keys()) end(generation, endAtMs);
  return found;
}

/** Its requests wait or fail: the disk takes none of them, which the log of writes is held to. */
const severs = ({ op, flags }: WriteRecord): boolean =>
  op === writeOps.link && flags !== linkFlags.pass;

const passes = ({ op, flags }: WriteRecord): boolean =>
  op === writeOps.link && flags === linkFlags.pass;

/** When the disk took the last write of an attachment; Infinity where it took none. */
export function lastWriteMs(log: WriteLog, generation: number | undefined): number {
  for (let index = log.length - 1; index >= 0; index -= 1) {
    const record = log.at(index);
    if (record.generation !== generation) continue;
    if (record.op === writeOps.write || record.op === writeOps.zero) return log.atMs(index);
  }
  return Infinity;
}
