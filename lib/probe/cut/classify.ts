/**
 * From what a cut left of a volume to what its class did, and to the modes that do so. Pure. What does
 * not tell is `undecided` with the reason.
 */
import type { DiskMode } from '../../disk-modes/index.ts';
import { answeredMs } from '../trials/journal.ts';
import { besideOf, isBeside, type NextFinding } from '../trials/next-pod.ts';
import { evidenceOf, overlapOf, type Evidence } from './evidence.ts';
import { judgeCut, undecided, type CutOutcome, type JudgedCut } from './judge-cut.ts';
import type { CutRemedy } from './cut-plan.ts';
import type { CutRecord, CutVolume } from './record.ts';

export interface CutFinding {
  readonly name: string;
  readonly storageClass: string;
  readonly outcome: CutOutcome;
  readonly why: string;
  /** All from the remedy. The API had the pod no more. */
  readonly podGoneMs?: number;
  readonly detachedMs?: number;
  readonly lastAckMs?: number;
  readonly error?: string;
  readonly next: NextFinding;
  /** Number of the old writer's writes that were acknowledged before the heal, and begun once the next pod's were. */
  readonly overlapAcks: number;
  /** Number of its writes that came to the disk after the next pod had read their place; older findings have none. */
  readonly overlapSlots?: number;
  /** Number of its writes that were acknowledged after the heal, whenever they were begun. */
  readonly afterHealAcks: number;
  /** All that do so; empty where it is undecided. */
  readonly modes: readonly DiskMode[];
}

const always = {
  'cut-before-next': ['reservation', 'ack-early'],
  'late-cut': ['ack-early'],
  'next-refused': ['exclusive'],
  'not-detached': ['pending-while-busy'],
  'path-cut': [],
  undecided: [],
} as const;

type ModesThat = Readonly<Record<CutOutcome, readonly DiskMode[]>>;
const untainted: ModesThat = {
  ...always,
  'both-wrote': ['unfenced', 'fence-if-out-of-service'],
  'wrote-after-heal': ['unfenced', 'fence-if-out-of-service'],
  'cut-at-detach': ['fenced'],
  'cut-near-detach': ['fenced', ...always['cut-before-next']],
};
/** What does so where the remedy is that one (lib/disk-modes has what each does). */
const modesThat: Readonly<Record<CutRemedy, ModesThat>> = {
  'force-delete': untainted,
  eviction: untainted,
  'out-of-service': {
    ...always,
    'both-wrote': ['unfenced'],
    'wrote-after-heal': ['unfenced'],
    'cut-at-detach': ['fenced', 'fence-if-out-of-service'],
    'cut-near-detach': ['fenced', 'fence-if-out-of-service', ...always['cut-before-next']],
  },
};

export function classifyCut(cut: CutRecord, seen: CutVolume, remedy: CutRemedy): CutFinding {
  const volume = toTheHeal(cut, seen);
  const evidence = evidenceOf(cut, volume);
  const [outcome, why] = unlessItLies(volume, evidence, judgeCut(cut, volume, evidence));
  const { writes, acks, next, besideSlots } = evidence;
  const { healedMs = Infinity } = cut;
  const since = (atMs: number | undefined): number | undefined =>
    atMs === undefined || volume.deleteAskedMs === undefined
      ? undefined
      : Math.round(atMs - volume.deleteAskedMs);
  const [detachedMs, lastAckMs] = [since(volume.goneMs), since(acks.at(-1)?.begunMs)];
  const goneMs = volume.writer?.goneMs ?? Infinity;
  const podGoneMs = since(goneMs < healedMs ? goneMs : undefined);
  const error = writes.find((write) => write.error !== undefined)?.error;
  return {
    ...{ name: volume.name, storageClass: volume.storageClass, outcome, why, next },
    ...(podGoneMs === undefined ? {} : { podGoneMs }),
    ...(detachedMs === undefined ? {} : { detachedMs }),
    ...(lastAckMs === undefined ? {} : { lastAckMs }),
    ...(error === undefined ? {} : { error }),
    overlapAcks: overlapOf(evidence, healedMs),
    overlapSlots: besideSlots.length,
    afterHealAcks: acks.filter((write) => answeredMs(write) > healedMs).length,
    modes: modesThat[remedy][outcome],
  };
}

/** A node that is back lets go of its volumes: what comes then is no forced detach. */
function toTheHeal({ healedMs = Infinity }: CutRecord, volume: CutVolume): CutVolume {
  const { goneMs, thereUntilMs, ...rest } = volume;
  const isInTime = goneMs !== undefined && goneMs < healedMs;
  return {
    ...rest,
    ...(isInTime ? { goneMs } : {}),
    ...(isInTime && thereUntilMs !== undefined ? { thereUntilMs } : {}),
    watchEndedMs: Math.min(healedMs, rest.watchEndedMs ?? Infinity),
  };
}

/** What was seen names no mode where the driver does what none does, or where that was not asked. */
function unlessItLies(volume: CutVolume, evidence: Evidence, [outcome, why]: JudgedCut): JudgedCut {
  const doubt = doubtOf(volume, evidence, outcome);
  if (doubt === undefined && outcome !== 'undecided') return [outcome, why];
  const { detachError } = volume.attachments[0] ?? {};
  return undecided(
    [
      ...(doubt === undefined ? [] : [doubt]),
      outcome === 'undecided' ? why : `${outcome}: ${why}`,
      ...(detachError === undefined ? [] : [`the driver said of the detach: ${detachError}`]),
    ].join('; '),
  );
}

/** A volume that nobody uses any more can be had elsewhere, and none whose detach has not ended. */
function doubtOf(volume: CutVolume, evidence: Evidence, outcome: CutOutcome): string | undefined {
  const { readBack, next } = volume;
  const { besideAcks, besideSlots, isUnseen } = evidence;
  if (outcome === 'path-cut') return undefined;
  if (readBack !== undefined) {
    return `no known mode does this: with the first pod gone, nobody else could have it (${readBack})`;
  }
  if (isBeside(besideOf(volume))) {
    return 'no known mode does this: the other node was given it before its detach from the first one had ended';
  }
  if (isUnseen) {
    return `no known mode does this: ${besideAcks.length} writes were acknowledged beside the next pod’s, and it found none of them on the disk`;
  }
  const isKept = outcome === 'not-detached' || outcome === 'next-refused';
  if (isKept && besideAcks.length + besideSlots.length > 0) {
    return 'no known mode does this: the next pod was given it while the first one wrote';
  }
  return isKept && next?.runningMs === undefined
    ? 'nobody waited to see whether another node ever has it'
    : undefined;
}

/** The modes that agree with all; undefined where nothing was decided. */
export function modesOf(findings: readonly CutFinding[]): readonly DiskMode[] | undefined {
  const decided = findings.filter(({ modes }) => modes.length > 0);
  const [first, ...others] = decided;
  return first?.modes.filter((mode) => others.every(({ modes }) => modes.includes(mode)));
}
