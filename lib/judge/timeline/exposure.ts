/**
 * Exposure: how long two accesses to one volume overlapped, and what each side wrote meanwhile.
 * Whose they are and when it was does not matter: before or after the heal, on a second return, on a
 * third node. A run with such a time is never `safe`.
 */
import type { Verdict } from '../verdict/verdict.ts';
import { observed } from '../../history/index.ts';
import { accessesOf, type Access, type AccessEvidence } from './access.ts';
import { bytesIn, handoverOf } from './handover.ts';
import type { Story } from './story.ts';
import { readMarks, type WriteMarks } from './write-marks.ts';
import { tallyWrites, type WriteTally } from './write-tally.ts';

export interface Exposure {
  readonly accesses: readonly Access[];
  /** The successor's first write, on the run's clock; absent where there was none. */
  readonly handoverAtMs?: number;
  /** The first and the last moment at which two could write; absent where there was none. */
  readonly from?: number;
  readonly to?: number;
  readonly summary: Verdict['exposure'];
  /** From the disk's log of writes, where there is one. */
  readonly tally?: WriteTally;
  readonly marks?: WriteMarks;
}

const nothing: Verdict['exposure'] = { ms: 0, bytesVictim: 0, bytesSuccessor: 0 };

export function exposureOf(story: Story, evidence: AccessEvidence = {}): Exposure {
  const { victimNode, faultAtMs } = story;
  const { writes } = evidence;
  const accesses = accessesOf(story, evidence);
  if (faultAtMs === undefined || victimNode === undefined) return { accesses, summary: nothing };
  const marks = writes === undefined ? undefined : readMarks(writes, victimNode, faultAtMs);
  const handover = handoverOf(story, marks);
  const seen = {
    accesses,
    ...(marks === undefined ? {} : { marks }),
    ...(handover === undefined ? {} : { handoverAtMs: handover.atMs }),
  };
  const spans = overlapsOf(accesses);
  const [from, to] = [spans[0]?.fromMs, spans.at(-1)?.toMs];
  if (from === undefined || to === undefined) return { ...seen, summary: nothing };
  // However short it was, it is not nothing.
  const ms = Math.max(
    1,
    Math.round(spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)),
  );
  const window = { ...seen, from, to };
  if (writes === undefined) {
    const bytesVictim = bytesWritten(story, (node) => node === victimNode, from, to);
    const bytesSuccessor = bytesWritten(story, (node) => node !== victimNode, from, to);
    return { ...window, summary: { ms, bytesVictim, bytesSuccessor } };
  }
  // What the successor wrote while the victim's path was severed, the victim may write over later.
  const fromMs = Math.min(from, handover?.atMs ?? from);
  const tally = tallyWrites(writes, { victim: victimNode, fromMs, toMs: to });
  const { bytesVictim, bytesSuccessor, blocksBoth } = tally;
  const atS = (atMs: number): number => Math.round(atMs - faultAtMs) / 1000;
  const exact = { blocksBoth, fromS: atS(from), toS: atS(to) };
  return { ...window, tally, summary: { ms, bytesVictim, bytesSuccessor, ...exact } };
}

interface Overlap {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The times in which at least two had access, in order. `accesses` are in order of their beginnings. */
export function overlapsOf(accesses: readonly Access[]): Overlap[] {
  const spans: { fromMs: number; toMs: number }[] = [];
  let openUntilMs = -Infinity;
  for (const { fromMs, toMs } of accesses) {
    const untilMs = Math.min(openUntilMs, toMs);
    const last = spans.at(-1);
    if (untilMs > fromMs) {
      if (last !== undefined && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, untilMs);
      else spans.push({ fromMs, toMs: untilMs });
    }
    openUntilMs = Math.max(openUntilMs, toMs);
  }
  return spans;
}

/** Bytes that some nodes wrote between two times, from their devices' counters (one per attachment). */
function bytesWritten(
  { observations }: Story,
  isMeant: (node: string) => boolean,
  fromMs: number,
  toMs: number,
): number {
  const atStart = new Map<string, number>();
  const atEnd = new Map<string, number>();
  for (const { name, node, t, data } of observations) {
    if (name !== observed.deviceWritten || node === undefined || !isMeant(node) || t > toMs)
      continue;
    const device = `${node}/${data.device}/${String(data.generation)}`;
    if (t < fromMs) atStart.set(device, bytesIn(data));
    atEnd.set(device, bytesIn(data));
  }
  let total = 0;
  for (const [device, bytes] of atEnd) total += bytes - (atStart.get(device) ?? 0);
  return total;
}
