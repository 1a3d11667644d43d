/**
 * What the controller manager says of forced detaches, by its log and by its counter, beside what
 * the observers of mounts saw. Log and counter also fire for volumes that nobody had mounted any
 * more (reconciler.go counts each detach after the wait), and a restart sets the counter to zero.
 */
import { losesPower } from '../../scenario/index.ts';
import { type ObservationRecord, csiCalls, isGranted, observed } from '../../history/index.ts';
import { isMounted } from './second-mounts.ts';
import type { Story } from './story.ts';

export const forceReasons = ['timeout', 'out-of-service'] as const;
export type ForceReason = (typeof forceReasons)[number];

/** A detach that the driver granted. */
export interface Detach {
  readonly node: string;
  readonly atMs: number;
  /** The node had the volume mounted, and was not a machine without power. */
  readonly wasMounted: boolean;
  /** By which reason the controller manager's log calls it forced; undefined where it does not. */
  readonly logged: ForceReason | undefined;
}

export interface ForcedDetaches {
  readonly detaches: readonly Detach[];
  /** Lines of the log since the fault, by reason. */
  readonly logged: Readonly<Record<ForceReason, number>>;
  /** By how much the counter grew since the fault; undefined where it was not read. */
  readonly counted: Readonly<Record<ForceReason, number>> | undefined;
  /** How often the controller manager began anew since the fault. */
  readonly restarts: number;
}

/** The line comes right before the VolumeAttachment is deleted. */
const beforeDetachMs = 15_000;
/** One start leaves several lines. */
const sameStartMs = 2_000;

export function forcedDetachesOf(story: Story): ForcedDetaches {
  const { observations, faultAtMs = Number.POSITIVE_INFINITY } = story;
  const since = observations.filter(({ t }) => t >= faultAtMs);
  const lines = since.filter(({ name }) => name === observed.forceDetachLog);
  const logged = (reason: ForceReason): number =>
    lines.filter((line) => reasonIn(line) === reason).length;
  return {
    detaches: since.filter(isDetach).map((call) => detachOf(call, lines, story)),
    logged: { timeout: logged('timeout'), 'out-of-service': logged('out-of-service') },
    counted: countedSince(observations, faultAtMs),
    restarts: startsIn(since),
  };
}

const reasonIn = ({ data }: ObservationRecord): ForceReason =>
  String(data.line).includes('out-of-service') ? 'out-of-service' : 'timeout';

const isDetach = (seen: ObservationRecord): boolean =>
  seen.node !== undefined && isGranted(csiCalls.unpublish)(seen);

function detachOf(
  { node = '', t }: ObservationRecord,
  lines: readonly ObservationRecord[],
  story: Story,
): Detach {
  const line = lines.findLast(
    (each) => each.t <= t && each.t >= t - beforeDetachMs && namesNode(each, node),
  );
  return {
    node,
    atMs: t,
    wasMounted: isMounted(story.observations, node, t) && !isOff(node, t, story),
    logged: line === undefined ? undefined : reasonIn(line),
  };
}

/** kind: `node="a"`; a line without a node's name is taken for the only one. */
const namesNode = ({ node, data }: ObservationRecord, wanted: string): boolean =>
  node === wanted ||
  !String(data.line).includes('node=') ||
  String(data.line).includes(`node="${wanted}"`);

const isOff = (
  node: string,
  atMs: number,
  { scenario, victimNode, faultDoneAtMs }: Story,
): boolean =>
  node === victimNode &&
  losesPower(scenario.fault.kind) &&
  faultDoneAtMs !== undefined &&
  atMs >= faultDoneAtMs;

/** A counter that shrinks began anew: what it shows then was counted since. */
function countedSince(
  observations: readonly ObservationRecord[],
  faultAtMs: number,
): ForcedDetaches['counted'] {
  const readings = observations.filter(({ name }) => name === observed.forceDetachMetric);
  const before = readings.findLast(({ t }) => t < faultAtMs);
  const after = readings.filter(({ t }) => t >= faultAtMs);
  // Older histories have one reading, at the end, of a counter that a kept cluster began with.
  if (before === undefined || after.length === 0) return undefined;
  const grown = (reason: ForceReason): number => {
    let sum = 0;
    let last = Number(before.data[reason]);
    for (const { data } of after) {
      const now = Number(data[reason]);
      sum += now >= last ? now - last : now;
      last = now;
    }
    return sum;
  };
  return { timeout: grown('timeout'), 'out-of-service': grown('out-of-service') };
}

function startsIn(since: readonly ObservationRecord[]): number {
  const starts = since.filter(({ name }) => name === observed.leaderAcquired);
  return starts.filter(({ t }, at) => t - (starts[at - 1]?.t ?? -Infinity) > sameStartMs).length;
}
