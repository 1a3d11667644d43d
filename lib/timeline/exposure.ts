/**
 * Exposure: how long, and with how many bytes from each side, two nodes could write one volume.
 * It begins with the successor's first write — fsck's journal replay is one — and ends when either
 * side can write no more: unmounted, cut, or its node dead.
 */
import type { Verdict } from '../experiment/verdict.ts';
import { observed } from '../history/observations.ts';
import type { Story } from './story.ts';

export interface Exposure {
  /** Absent where there was none. */
  readonly from?: number;
  readonly to?: number;
  readonly summary: Verdict['exposure'];
}

interface Handover {
  readonly atMs: number;
  readonly successor: string;
}

const none: Exposure = { summary: { ms: 0, bytesVictim: 0, bytesSuccessor: 0 } };

/** The successor's first write to the volume after the fault; observations are in time order. */
function handoverOf({ observations, faultAtMs, victimNode }: Story): Handover | undefined {
  if (faultAtMs === undefined) return undefined;
  for (const { t, name, node, data } of observations) {
    if (t < faultAtMs || node === undefined || node === victimNode) continue;
    const wrote = name === observed.deviceWritten && bytesIn(data) > 0;
    if (wrote || name === observed.mounted) return { atMs: t, successor: node };
  }
  return undefined;
}

/** When that was, ms on the run's clock. */
export const handoverAtMs = (story: Story): number | undefined => handoverOf(story)?.atMs;

export function exposureOf(story: Story): Exposure {
  const { victimNode, endAtMs } = story;
  const handover = handoverOf(story);
  if (handover === undefined || victimNode === undefined) return none;
  const { atMs: from, successor } = handover;

  const victimCanWriteUntil = writesUntil(story, victimNode);
  if (victimCanWriteUntil <= from) return none;
  const to = Math.min(victimCanWriteUntil, unmountedAfter(story, successor, from) ?? endAtMs);
  return {
    from,
    to,
    summary: {
      ms: Math.round(to - from),
      bytesVictim: bytesWritten(story, victimNode, from, to),
      bytesSuccessor: bytesWritten(story, successor, 0, to),
    },
  };
}

/** When the victim could write no more: the first of cut, unmount and death after the fault. */
function writesUntil(story: Story, victimNode: string): number {
  const { faultAtMs = 0, faultDoneAtMs, run, endAtMs } = story;
  const ended = [endAtMs];
  const cut = story.observations.find(
    ({ t, name, node }) => name === observed.deviceCut && node === victimNode && t >= faultAtMs,
  );
  if (cut !== undefined) ended.push(cut.t);
  const unmounted = unmountedAfter(story, victimNode, faultAtMs);
  if (unmounted !== undefined) ended.push(unmounted);
  if (run.scenario.fault === 'node-crash' && faultDoneAtMs !== undefined) ended.push(faultDoneAtMs);
  return Math.min(...ended);
}

function unmountedAfter({ observations }: Story, on: string, afterMs: number): number | undefined {
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

const bytesIn = (data: Readonly<Record<string, unknown>>): number =>
  Number(data['bytesWritten'] ?? 0);
