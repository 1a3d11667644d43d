/**
 * Exposure: how long, and with how many bytes from each side, two nodes could write one volume.
 * It begins with the successor's first write — fsck's journal replay is one — and ends when either
 * side can write no more: unmounted, cut, or its node dead. While the victim's path to the disk
 * stalls or fails, or the victim itself is frozen, it can't write.
 */
import type { Verdict } from '../experiment/verdict.ts';
import { losesPower } from '../fault-kinds.ts';
import { observed } from '../history/observations.ts';
import type { WriteLog } from '../history/writes.ts';
import { bytesIn, handoverOf, locksExclude, type Handover } from './handover.ts';
import type { Story } from './story.ts';
import { readMarks, type Span, type WriteMarks } from './write-marks.ts';
import { tallyWrites, type WriteTally } from './write-tally.ts';

export interface Exposure {
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

export interface ExposureEvidence {
  /** Without it, counters of the devices tell, to the nearest poll. */
  readonly writes?: WriteLog | undefined;
  /** The last commit that the victim acknowledged, on the run's clock. */
  readonly lastVictimAckMs?: number | undefined;
}

const nothing: Verdict['exposure'] = { ms: 0, bytesVictim: 0, bytesSuccessor: 0 };

export function exposureOf(story: Story, evidence: ExposureEvidence = {}): Exposure {
  const { victimNode, faultAtMs } = story;
  if (faultAtMs === undefined || victimNode === undefined) return { summary: nothing };
  const { writes } = evidence;
  const marks = writes === undefined ? undefined : readMarks(writes, victimNode, faultAtMs);
  const handover = handoverOf(story, marks);
  const seen = {
    ...(marks === undefined ? {} : { marks }),
    ...(handover === undefined ? {} : { handoverAtMs: handover.atMs }),
  };
  if (handover === undefined) return { ...seen, summary: nothing };

  const spans = bothCould(story, handover, marks, evidence);
  const [from, to] = [spans[0]?.fromMs, spans.at(-1)?.toMs];
  if (from === undefined || to === undefined) return { ...seen, summary: nothing };
  const ms = Math.round(spans.reduce((sum, span) => sum + span.toMs - span.fromMs, 0));
  const { successor } = handover;
  if (writes === undefined) {
    const bytesVictim = bytesWritten(story, victimNode, from, to);
    const bytesSuccessor = bytesWritten(story, successor, 0, to);
    return { ...seen, from, to, summary: { ms, bytesVictim, bytesSuccessor } };
  }
  const window = { victim: victimNode, successor, fromMs: handover.atMs, toMs: to };
  const tally = tallyWrites(writes, window);
  const { bytesVictim, bytesSuccessor, blocksBoth } = tally;
  const atS = (atMs: number): number => Math.round(atMs - faultAtMs) / 1000;
  const exact = { blocksBoth, fromS: atS(from), toS: atS(to) };
  return { ...seen, from, to, tally, summary: { ms, bytesVictim, bytesSuccessor, ...exact } };
}

type ClosedSpan = Required<Span>;

/** From the hand-over on, without what the victim's link took from it. */
function bothCould(
  story: Story,
  { atMs, successor }: Handover,
  marks: WriteMarks | undefined,
  { lastVictimAckMs = 0 }: ExposureEvidence,
): ClosedSpan[] {
  const victimUntil = locksExclude(story) ? lastVictimAckMs : writesUntil(story, marks);
  const successorUntil = unmountedAfter(story, successor, atMs) ?? story.endAtMs;
  const severed =
    marks === undefined || marks.severed.length === 0 ? linkSpans(story) : marks.severed;
  const taken = [...severed, ...frozenSpans(story)];
  return [{ fromMs: atMs, toMs: victimUntil }, ...mountsAfterReboot(story)].flatMap((span) => {
    const fromMs = Math.max(span.fromMs, atMs);
    return without({ fromMs, toMs: Math.min(span.toMs, successorUntil) }, taken);
  });
}

/** From the freeze until the thaw. */
const frozenSpans = ({ scenario, faultDoneAtMs, healAtMs }: Story): ClosedSpan[] =>
  scenario.fault === 'freeze' && faultDoneAtMs !== undefined
    ? [{ fromMs: faultDoneAtMs, toMs: healAtMs }]
    : [];

/** A victim that lost power and came back may have mounted the volume anew. */
function mountsAfterReboot({ observations, scenario, ...story }: Story): ClosedSpan[] {
  const { faultDoneAtMs, victimNode, endAtMs } = story;
  if (!losesPower(scenario.fault) || faultDoneAtMs === undefined) return [];
  const spans: { fromMs: number; toMs: number }[] = [];
  for (const { name, node, t } of observations) {
    if (node !== victimNode || t < faultDoneAtMs) continue;
    if (name === observed.mounted) spans.push({ fromMs: t, toMs: endAtMs });
    const last = spans.at(-1);
    if (name === observed.unmounted && last?.toMs === endAtMs) last.toMs = t;
  }
  return spans;
}

/** What is left of a span without the others, which are in order; empty parts are left out. */
function without({ fromMs, toMs }: ClosedSpan, taken: readonly Span[]): ClosedSpan[] {
  const left: ClosedSpan[] = [];
  let startMs = fromMs;
  for (const span of taken) {
    left.push({ fromMs: startMs, toMs: Math.min(span.fromMs, toMs) });
    startMs = Math.max(startMs, span.toMs ?? toMs);
  }
  left.push({ fromMs: startMs, toMs });
  return left.filter((span) => span.toMs > span.fromMs);
}

/** While the victim's path stalled or failed, as the observers of the disk saw it. */
function linkSpans({ observations, victimNode }: Story): Span[] {
  const spans: { fromMs: number; toMs?: number }[] = [];
  for (const { name, node, t, data } of observations) {
    if (name !== observed.linkChanged || node !== victimNode) continue;
    const last = spans.at(-1);
    const isOpen = last !== undefined && last.toMs === undefined;
    if (data['state'] === 'pass') {
      if (isOpen) last.toMs = t;
    } else if (!isOpen) spans.push({ fromMs: t });
  }
  return spans;
}

/** When the victim could write no more: the first of cut, unmount and death after the fault. */
function writesUntil(story: Story, marks: WriteMarks | undefined): number {
  const { faultAtMs = 0, faultDoneAtMs, victimNode, scenario, endAtMs } = story;
  const ended = [endAtMs];
  const cut = story.observations.find(
    ({ t, name, node }) => name === observed.deviceCut && node === victimNode && t >= faultAtMs,
  );
  if (cut !== undefined) ended.push(cut.t);
  if (marks?.victimEndedMs !== undefined) ended.push(marks.victimEndedMs);
  const unmounted = unmountedAfter(story, victimNode, faultAtMs);
  if (unmounted !== undefined) ended.push(unmounted);
  const readOnly = readOnlyAfter(story, marks, faultAtMs);
  if (readOnly !== undefined) ended.push(readOnly);
  if (losesPower(scenario.fault) && faultDoneAtMs !== undefined) ended.push(faultDoneAtMs);
  return Math.min(...ended);
}

/**
 * The victim's self-fence took its file system away, and did not give it back. Its word is taken
 * where the disk's log shows that no write came after it.
 */
function readOnlyAfter(
  { observations, victimNode }: Story,
  marks: WriteMarks | undefined,
  afterMs: number,
): number | undefined {
  const said = observations.filter(
    ({ t, name, node }) => name === observed.selfFence && node === victimNode && t >= afterMs,
  );
  const says = (text: string) => (seen: (typeof said)[number]) =>
    String(seen.data['line']).startsWith(`self-fence: ${text}`);
  const readOnly = said.find(says('read-only'))?.t;
  if (readOnly === undefined || said.some(says('open'))) return undefined;
  return (marks?.victimWroteMs ?? Infinity) <= readOnly ? readOnly : undefined;
}

function unmountedAfter(
  { observations }: Story,
  on: string | undefined,
  afterMs: number,
): number | undefined {
  return observations.find(
    ({ t, name, node }) => name === observed.unmounted && node === on && t >= afterMs,
  )?.t;
}

/** Bytes that one node wrote between two times, from its devices' counters (one per attachment). */
function bytesWritten({ observations }: Story, on: string, fromMs: number, toMs: number): number {
  const atStart = new Map<string, number>();
  const atEnd = new Map<string, number>();
  for (const { name, node, t, data } of observations) {
    if (name !== observed.deviceWritten || node !== on || t > toMs) continue;
    const device = `${String(data['device'])}/${String(data['generation'])}`;
    if (t <= fromMs) atStart.set(device, bytesIn(data));
    atEnd.set(device, bytesIn(data));
  }
  let total = 0;
  for (const [device, bytes] of atEnd) total += bytes - (atStart.get(device) ?? 0);
  return total;
}
