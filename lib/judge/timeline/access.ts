/**
 * Access: who could write the volume, and when. Each is a stretch of time in which the disk would
 * take a write of one attachment, from the opening of its path to the proof that it is over. A node
 * that is frozen or off the network has its access still: it comes back. A path that is severed, so
 * that its requests wait or fail, has none until it passes again.
 */
import { losesPower } from '../../scenario/index.ts';
import {
  type ObservationRecord,
  csiCalls,
  isGranted,
  observed,
  type WriteLog,
} from '../../history/index.ts';
import { bytesIn, handoverOf, locksExclude } from './handover.ts';
import { lastWriteMs, pathsIn } from './write-marks.ts';
import type { Story } from './story.ts';

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
}

/** In order of their beginnings. */
export function accessesOf(story: Story, evidence: AccessEvidence = {}): Access[] {
  const { writes, lastVictimAckMs } = evidence;
  const found = locksExclude(story)
    ? locksHeld(story, lastVictimAckMs)
    : writes === undefined
      ? mountsSeen(story)
      : pathsIn(writes, story.endAtMs);
  return shutByItself(story, found, writes).toSorted((a, b) => a.fromMs - b.fromMs);
}

/** A shared directory may be mounted by many; only who has the files' locks writes. */
function locksHeld(story: Story, lastVictimAckMs = 0): Access[] {
  const { victimNode, endAtMs } = story;
  const handover = handoverOf(story);
  const victim =
    victimNode === undefined ? [] : [{ node: victimNode, fromMs: 0, toMs: lastVictimAckMs }];
  if (handover === undefined) return victim;
  const { successor: node, atMs: fromMs } = handover;
  const left = story.observations.find(
    ({ name, node: on, t }) => name === observed.unmounted && on === node && t >= fromMs,
  );
  return [...victim, { node, fromMs, toMs: left?.t ?? endAtMs }];
}

/** An unmount's own last writes are counted by a poll that comes so much later. */
const countedLateMs = 5000;

/** One at a time on each node, as the observers of mounts and devices saw them. */
function mountsSeen(story: Story): Access[] {
  const { observations, endAtMs, victimNode, faultDoneAtMs, scenario } = story;
  const nodes = new Map<string, NodeAccess>();
  const on = (node: string): NodeAccess => {
    const known = nodes.get(node) ?? new NodeAccess(node);
    nodes.set(node, known);
    return known;
  };
  const powerLostMs = losesPower(scenario.fault.kind) ? faultDoneAtMs : undefined;
  let isPowered = true;
  for (const seen of observations) {
    if (
      isPowered &&
      powerLostMs !== undefined &&
      victimNode !== undefined &&
      seen.t >= powerLostMs
    ) {
      on(victimNode).end(powerLostMs);
      isPowered = false;
    }
    if (seen.node !== undefined) on(seen.node).see(seen);
  }
  return [...nodes.values()].flatMap((each) => each.all(endAtMs));
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
    access.node === victimNode && isQuiet(access)
      ? { ...access, toMs: Math.min(access.toMs, Math.max(shut, access.fromMs)) }
      : access,
  );
}

/** The victim's device was counted from that time on, and no count was more than the one before. */
function countedQuiet({ observations, victimNode }: Story, sinceMs: number): boolean {
  const counts = observations.filter(
    ({ name, node }) => name === observed.deviceWritten && node === victimNode,
  );
  const later = counts.filter(({ t }) => t >= sinceMs);
  const before = counts.findLast(({ t }) => t < sinceMs);
  const bytes = [...(before === undefined ? [] : [before]), ...later].map(({ data }) =>
    bytesIn(data),
  );
  return later.length > 0 && bytes.every((count) => count === bytes[0]);
}

/**
 * A call is dated when it came in. In whole microseconds, as records are: the sum of two of them is
 * else a little less than the time of what happened when the call ended.
 */
export const callEndMs = ({ t, data }: Pick<ObservationRecord, 't' | 'data'>): number =>
  Math.round((t + (data.durationMs ?? 0)) * 1000) / 1000;

class NodeAccess {
  readonly #node: string;
  readonly #past: Access[] = [];
  /** Largest count of bytes of each device. */
  readonly #written = new Map<string, number>();
  #fromMs: number | undefined;
  #endedMs = -Infinity;
  #isSevered = false;

  constructor(node: string) {
    this.#node = node;
  }

  see(seen: ObservationRecord): void {
    const { t, name, data } = seen;
    // Within the call its mode may cut others off first; what it then writes is counted.
    if (isGranted(csiCalls.stage)(seen)) this.#begin(callEndMs(seen));
    else if (name === observed.mounted) this.#begin(t);
    else if (name === observed.deviceWritten) this.#count(t, data);
    else if (name === observed.linkChanged) this.#changeLink(t, data.state !== 'pass');
    else if (name === observed.unmounted || name === observed.deviceCut) {
      this.end(t);
      this.#isSevered = false;
    }
  }

  #changeLink(t: number, isSevered: boolean): void {
    if (isSevered && this.#fromMs !== undefined) {
      this.end(t);
      this.#isSevered = true;
    } else if (!isSevered && this.#isSevered) {
      this.#begin(t);
      this.#isSevered = false;
    }
  }

  #count(t: number, data: ObservationRecord['data']): void {
    const device = `${String(data.device)}/${String(data.generation)}`;
    const bytes = bytesIn(data);
    const grew = bytes > (this.#written.get(device) ?? 0);
    this.#written.set(device, bytes);
    if (grew && t > this.#endedMs + countedLateMs) this.#begin(t);
  }

  #begin(t: number): void {
    this.#fromMs ??= t;
  }

  end(t: number): void {
    if (this.#fromMs === undefined) return;
    this.#past.push({ node: this.#node, fromMs: this.#fromMs, toMs: t });
    this.#fromMs = undefined;
    this.#endedMs = t;
  }

  all(endAtMs: number): readonly Access[] {
    this.end(endAtMs);
    return this.#past;
  }
}

/** A mount is seen by a poll, and a path is closed so long after its unmount at most. */
const toleranceMs = 5000;

/** `accesses`: from the log of writes. A sentence for each mount that no open path explains. */
export function accessConflicts(story: Story, accesses: readonly Access[]): string[] {
  if (locksExclude(story)) return [];
  return story.observations
    .filter(({ name }) => name === observed.mounted)
    .filter(
      ({ t, node }) => !accesses.some((access) => access.node === node && isOpenAt(t, access)),
    )
    .map(
      ({ t, node, source }) =>
        `${source} saw the volume mounted on ${node ?? '?'} at ${(t / 1000).toFixed(1)} s, ` +
        'and the log of writes knows of no path of that node then',
    );
}

const isOpenAt = (t: number, { fromMs, toMs }: Access): boolean =>
  fromMs - toleranceMs <= t && t <= toMs + toleranceMs;
