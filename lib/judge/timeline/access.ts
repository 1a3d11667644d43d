/** Who could write the volume, when: accesses, mounts, refused mounts, the hand-over and the dual-writer window. */
import { countInWords, plural, sumOf } from '../../core/index.ts';
import {
  type ObservationRecord,
  type WriteLog,
  csiCalls,
  isGranted,
  isRefused,
  observed,
} from '../../history/index.ts';
import { note } from '../checkers/checker.ts';
import type { AckedBy } from '../facts/served.ts';
import { countersIn, growthsIn, keyOf } from '../facts/storage.ts';
import {
  type Roles,
  type Story,
  callEndMs,
  locksExclude,
  milestones,
  rolesIn,
  sinceFaultS,
  victimOffMs,
} from './story.ts';
import {
  type WriteMarks,
  type WriteTally,
  lastWriteMs,
  pathsIn,
  readMarks,
  tallyWrites,
} from './writes.ts';
import type { Finding, RefusedMount, Verdict } from '../verdict/verdict.ts';

export interface Access {
  readonly node: string;
  /** The attachment's; absent where no record of this access names it. */
  readonly generation?: number;
  /** On the run's clock; `toMs` is the run's end where nothing proves an earlier one. */
  readonly fromMs: number;
  readonly toMs: number;
  /** What the disk took from it; absent where it kept no log of writes. */
  readonly bytesWritten?: number;
}

export interface AccessEvidence {
  /** Without it, mounts and the counters of the devices tell, to the nearest poll. */
  readonly writes?: WriteLog | undefined;
  /** The last commit that the victim acknowledged, on the run's clock. */
  readonly lastVictimAckMs?: number | undefined;
  /** Acknowledgements for which the disk has answered a flush, server by server. Default: none. */
  readonly acked?: readonly AckedBy[];
}

/** In order of their beginnings. */
function accessesOf(story: Story, evidence: AccessEvidence = {}): Access[] {
  const { writes, lastVictimAckMs, acked = [] } = evidence;
  const found = locksExclude(story)
    ? locksHeld(story, lastVictimAckMs)
    : writes === undefined
      ? mountsSeen(story)
      : pathsIn(writes, story.endAtMs);
  return [...shutByItself(story, found, writes), ...ackedBeside(found, acked)].toSorted(
    (a, b) => a.fromMs - b.fromMs,
  );
}

/** An acknowledgement lay at most 0.32 s outside an access of its node in 173 runs. */
export const answeredWithinMs = 2000;

/**
 * A server that acknowledges commits writes its disk, whatever others report: while its node has no access, or
 * another server has it. So two that acknowledge at once are two writers.
 */
function ackedBeside(accesses: readonly Access[], acked: readonly AckedBy[]): Access[] {
  const runs = acked.flatMap((server) => runsOf(server).map((run) => ({ ...run, server })));
  const isWithin = (t: number, { fromMs, toMs }: Access): boolean =>
    fromMs - answeredWithinMs <= t && t <= toMs + answeredWithinMs;
  const isAnothers = (server: AckedBy, t: number): boolean =>
    runs.some(
      (run) =>
        run.server !== server &&
        run.node === server.node &&
        run.fromMs + answeredWithinMs < t &&
        t < run.toMs - answeredWithinMs,
    );
  return acked.flatMap((server) => {
    const own = accesses.filter(({ node }) => node === server.node);
    const atMs = server.atMs.filter(
      (t) => !own.some((access) => isWithin(t, access)) || isAnothers(server, t),
    );
    return runsOf({ node: server.node, atMs });
  });
}

/** Acknowledgements without a long break. */
function runsOf({ node, atMs }: AckedBy): Access[] {
  const runs: { node: string; fromMs: number; toMs: number }[] = [];
  for (const t of atMs) {
    const last = runs.at(-1);
    if (last !== undefined && t - last.toMs <= answeredWithinMs) last.toMs = t;
    else runs.push({ node, fromMs: t, toMs: t });
  }
  return runs;
}

/** A shared directory may be mounted by many; only who has the files' locks writes. */
function locksHeld(story: Story, lastVictimAckMs = 0): Access[] {
  const { victimNode, endAtMs, faultAtMs = 0 } = story;
  const handover = handoverOf(story);
  // Before the fault it may have moved there.
  const came = story.observations.findLast(
    ({ name, node: on, t }) => name === observed.mounted && on === victimNode && t <= faultAtMs,
  );
  const victim =
    victimNode === undefined
      ? []
      : [{ node: victimNode, fromMs: came?.t ?? 0, toMs: lastVictimAckMs }];
  if (handover === undefined) return victim;
  const { node, atMs: fromMs } = handover;
  const left = story.observations.find(
    ({ name, node: on, t }) => name === observed.unmounted && on === node && t >= fromMs,
  );
  return [...victim, { node, fromMs, toMs: left?.t ?? endAtMs }];
}

/** An unmount's own last writes are counted by a poll that comes so much later. */
const countedLateMs = 5000;

/** One at a time on each node, as the observers of mounts and devices report them. */
function mountsSeen(story: Story): Access[] {
  const { victimNode } = story;
  const offMs = victimOffMs(story);
  const grew = new Set<ObservationRecord>(growthsIn({ story }));
  const byNode = Map.groupBy(story.observations, ({ node }) => node);
  return [...byNode].flatMap(([node, own]) => {
    if (node === undefined) return [];
    const lostMs = node === victimNode ? offMs : undefined;
    return accessesOn(node, own, { grew, endAtMs: story.endAtMs, lostMs });
  });
}

interface NodeLife {
  /** Records of counters that grew. */
  readonly grew: ReadonlySet<ObservationRecord>;
  readonly endAtMs: number;
  readonly lostMs: number | undefined;
}

function accessesOn(
  node: string,
  observations: readonly ObservationRecord[],
  { grew, endAtMs, lostMs = Infinity }: NodeLife,
): Access[] {
  const found: Access[] = [];
  let fromMs: number | undefined;
  let endedMs = -Infinity;
  let isSevered = false;
  const end = (toMs: number): void => {
    if (fromMs === undefined) return;
    found.push({ node, fromMs, toMs });
    [fromMs, endedMs] = [undefined, toMs];
  };
  let isPowered = true;
  for (const seen of observations) {
    const { t, name, data } = seen;
    if (isPowered && t >= lostMs) {
      end(lostMs);
      isPowered = false;
    }
    // Within the call its mode may cut others off first; what it then writes is counted.
    if (isGranted(csiCalls.stage)(seen)) fromMs ??= callEndMs(seen);
    else if (name === observed.mounted) fromMs ??= t;
    else if (name === observed.deviceWritten) {
      if (grew.has(seen) && t > endedMs + countedLateMs) fromMs ??= t;
    } else if (name === observed.linkChanged) {
      if (data.state === 'pass' && isSevered) fromMs ??= t;
      isSevered = data.state !== 'pass' && (isSevered || fromMs !== undefined);
      if (isSevered) end(t);
    } else if (name === observed.unmounted || name === observed.deviceCut) {
      end(t);
      isSevered = false;
    }
  }
  end(isPowered ? Math.min(lostMs, endAtMs) : endAtMs);
  return found;
}

/**
 * A self-fence that took the victim's file system away, and did not give it back, ends its access.
 * Its word is taken where no write came after it: by the disk's log, or else by the counters of the
 * devices, which must have been read since.
 */
function shutByItself(
  story: Story,
  accesses: readonly Access[],
  writes: WriteLog | undefined,
): Access[] {
  const { observations, victimNode, faultAtMs = 0 } = story;
  const said = observations.filter(
    ({ t, name, node }) => name === observed.selfFence && node === victimNode && t >= faultAtMs,
  );
  const says = (text: string) => (seen: ObservationRecord) =>
    String(seen.data.line).startsWith(`self-fence: ${text}`);
  const shut = said.find(says('read-only'))?.t;
  if (shut === undefined || said.some(says('open'))) return [...accesses];
  const isQuiet = ({ generation }: Access): boolean =>
    writes === undefined
      ? countedQuiet(story, shut + countedLateMs)
      : lastWriteMs(writes, generation) <= shut;
  return accesses.map((access) =>
    access.node === victimNode && access.fromMs <= shut && isQuiet(access)
      ? { ...access, toMs: Math.min(access.toMs, shut) }
      : access,
  );
}

/** A counter of a device that the victim had was read from that time on, and none of them grew. */
function countedQuiet(story: Story, sinceMs: number): boolean {
  const own = countersIn({ story }).filter(({ node }) => node === story.victimNode);
  const before = new Set(own.filter(({ t }) => t < sinceMs).map(keyOf));
  const later = own.filter((seen) => seen.t >= sinceMs && before.has(keyOf(seen)));
  const grew = growthsIn({ story });
  return later.length > 0 && !later.some((seen) => grew.includes(seen));
}

// The hand-over: when the successor's first write came, and whose it was.

/** The disk's log of writes knows best; `marks` is absent where there is none. */
function handoverOf(story: Story, marks?: WriteMarks): WriteMarks['handover'] {
  const { observations, faultAtMs } = story;
  if (marks?.handover !== undefined || faultAtMs === undefined) return marks?.handover;
  const roles = rolesIn(story);
  const isFirst = locksExclude(story) ? databaseOpened : wroteOrMounted;
  const seen = observations.find((each) => each.t >= faultAtMs && isFirst(each, roles));
  return seen?.node === undefined ? undefined : { atMs: seen.t, node: seen.node };
}

/** What a device has taken is no milestone: fsck's replay may come before any. */
function wroteOrMounted(seen: ObservationRecord, roles: Roles): boolean {
  const wrote = seen.name === observed.deviceWritten && (seen.data.bytesWritten ?? 0) > 0;
  return (wrote && roles.successor.onNode(seen)) || milestones.mounted.is(seen, roles);
}

const databaseOpened = (seen: ObservationRecord, roles: Roles): boolean =>
  milestones.serving.is(seen, roles) || milestones.ready.is(seen, roles);

// A node that was given the volume and could not mount it: fsck wrote to it all the same.

/** One for each node, in order of time. The victim's own come after the heal, if ever. */
export function refusedMountsOf(story: Story, accesses: readonly Access[]): RefusedMount[] {
  const { faultAtMs = 0, observations } = story;
  const since = observations.filter(({ t }) => t >= faultAtMs);
  const refusals = since.filter(isRefused(csiCalls.stage));
  const atS = (atMs: number): number => sinceFaultS(story, atMs);
  const hasLog = accesses.some(({ bytesWritten }) => bytesWritten !== undefined);
  const nodes = new Set(refusals.flatMap(({ node }) => node ?? []));
  return [...nodes].flatMap((node): RefusedMount[] => {
    const mounted = since.find((seen) => seen.name === observed.mounted && seen.node === node)?.t;
    const refused = refusals.filter(({ t, node: on }) => on === node && t < (mounted ?? Infinity));
    const had = accesses.filter(
      (access) =>
        access.node === node && access.toMs > faultAtMs && access.fromMs < (mounted ?? Infinity),
    );
    // What was written before the mount, no record shows.
    const isSplit = had.some(({ toMs }) => mounted !== undefined && toMs > mounted);
    const [first, last] = [refused[0], refused.at(-1)];
    if (first === undefined || last === undefined) return [];
    const said = new Set(refused.map(({ data }) => textOf(data.error)));
    return [
      {
        node,
        fromS: atS(Math.min(first.t, had[0]?.fromMs ?? Infinity)),
        bytesWritten: hasLog && !isSplit ? sumOf(had.map((each) => each.bytesWritten ?? 0)) : null,
        times: refused.length,
        ...{ firstS: atS(first.t), lastS: atS(last.t) },
        mountedS: mounted === undefined ? null : atS(mounted),
        errors: [...said].slice(0, errorsShown),
      },
    ];
  });
}

const errorsShown = 3;
const textOf = (error: unknown): string =>
  typeof error === 'string' ? error : JSON.stringify(error);

export const refusedMountFindings = (refused: readonly RefusedMount[]): Finding[] =>
  refused.map((each) => note('MOUNT_REFUSED', refusedInWords(each), each.errors));

/** Who had the volume, from when on, what he wrote, and how often he was refused. */
export function refusedInWords(refused: RefusedMount): string {
  const { node, fromS, bytesWritten, times, mountedS } = refused;
  const wrote =
    bytesWritten === null
      ? ''
      : `, wrote ${bytesWritten === 0 ? 'nothing' : `${countInWords(bytesWritten)} bytes`}`;
  const came = mountedS === null ? '' : ` until +${mountedS.toFixed(1)} s`;
  return (
    `node ${node} had the volume from +${fromS.toFixed(1)} s on${wrote}, and was refused the mount ` +
    `${plural(times, 'time')}${came}`
  );
}

// Exposure: how long two accesses to one volume overlapped, and what each side wrote meanwhile. Whose they
// are and when it was does not matter: before or after the heal, on a second return, on a third node. A run
// with such a time is never `safe`.

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
  const marks = writes && readMarks(writes, victimNode, faultAtMs);
  const handoverAtMs = handoverOf(story, marks)?.atMs;
  const found = {
    accesses,
    ...(marks !== undefined && { marks }),
    ...(handoverAtMs !== undefined && { handoverAtMs }),
  };
  const spans = overlapsOf(accesses);
  const [from, to] = [spans[0]?.fromMs, spans.at(-1)?.toMs];
  if (from === undefined || to === undefined) return { ...found, summary: nothing };
  // However short it was, it is not nothing.
  const ms = Math.max(1, Math.round(sumOf(spans.map(({ fromMs, toMs }) => toMs - fromMs))));
  const window = { ...found, from, to };
  if (writes === undefined) {
    const span = { fromMs: from, toMs: to };
    const bytesVictim = bytesWritten(story, (node) => node === victimNode, span);
    const bytesSuccessor = bytesWritten(story, (node) => node !== victimNode, span);
    return { ...window, summary: { ms, bytesVictim, bytesSuccessor } };
  }
  // What the successor wrote while the victim's path was severed, the victim may write over later.
  const fromMs = Math.min(from, handoverAtMs ?? from);
  const tally = tallyWrites(writes, { victim: victimNode, fromMs, toMs: to });
  const { bytesVictim, bytesSuccessor, blocksBoth } = tally;
  const atS = (atMs: number): number => sinceFaultS(story, atMs);
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
  story: Story,
  isMeant: (node: string) => boolean,
  { fromMs, toMs }: Overlap,
): number {
  const counters = countersIn({ story }).filter(({ node, t }) => isMeant(node) && t <= toMs);
  return sumOf(
    [...Map.groupBy(counters, keyOf).values()].map((each) => {
      const before = each.findLast(({ t }) => t < fromMs);
      return (each.at(-1)?.data.bytesWritten ?? 0) - (before?.data.bytesWritten ?? 0);
    }),
  );
}
