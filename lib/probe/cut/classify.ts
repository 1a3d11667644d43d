/**
 * From what a cut left of a volume to what its class did, and to the modes that do so. Pure. What does
 * not tell is `undecided` with the reason.
 */
import type { DiskMode } from '../../disk-modes/index.ts';
import { toldInSeconds } from '../../durations.ts';
import { writesBy, type Write } from '../trials/journal.ts';
import { besideOf, isBeside, type NextFinding, nextOf } from '../trials/next-pod.ts';
import type { CutRemedy } from './plan.ts';
import type { CutRecord, CutVolume } from './record.ts';

export type CutOutcome =
  /** The old writer wrote on beside the next one, to the heal. */
  | 'both-wrote'
  /** Its last write came before the detach was answered. */
  | 'cut-at-detach'
  /** The detach's end was seen so late that its last write may have come before or after it. */
  | 'cut-near-detach'
  /** After that, and before the next pod wrote. */
  | 'cut-before-next'
  /** Beside the next pod's writes: for a while both wrote. */
  | 'late-cut'
  /** It wrote on, and the driver refused the next node. */
  | 'next-refused'
  /** It wrote on, and its attachment stayed. */
  | 'not-detached'
  /** The cut took its storage, too: of a fence this tells nothing. */
  | 'path-cut'
  | 'undecided';

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
  /** Of the old writer, acknowledged and begun once the next pod's writes were. */
  readonly overlapAcks: number;
  /** Of the old writer, begun after the heal and acknowledged. */
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
    'cut-at-detach': ['fenced', 'fence-if-out-of-service'],
    'cut-near-detach': ['fenced', 'fence-if-out-of-service', ...always['cut-before-next']],
  },
};

export function classifyCut(cut: CutRecord, seen: CutVolume, remedy: CutRemedy): CutFinding {
  const volume = toTheHeal(cut, seen);
  const next = nextOf(volume);
  const writes = writesBy(volume.writerJournal, volume.clockOffsetMs);
  const acks = writes.filter(({ error }) => error === undefined);
  const { healedMs = Infinity } = cut;
  const fromMs = next.inMs ?? Infinity;
  const overlap = acks.filter(({ begunMs }) => begunMs > fromMs && begunMs < healedMs);
  const judged = judge(cut, volume, { acks, writes, next, overlapAcks: overlap.length });
  const [outcome, why] = unlessItLies(volume, judged);
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
    overlapAcks: overlap.length,
    afterHealAcks: acks.filter(({ begunMs }) => begunMs > healedMs).length,
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

interface Facts {
  readonly writes: readonly Write[];
  readonly acks: readonly Write[];
  readonly next: NextFinding;
  readonly overlapAcks: number;
}

type Judged = readonly [CutOutcome, string];
const undecided = (why: string): Judged => ['undecided', why];
/** Writes come each 100 ms; of a writer that was silent for longer nothing is known. */
const silentMs = 3000;
/** Looks at an attachment come each 500 ms; on a busy machine some are late. */
const nearMs = 2000;

/** What was seen names no mode where the driver does what none does, or where that was not asked. */
function unlessItLies(volume: CutVolume, [outcome, why]: Judged): Judged {
  const doubt = doubtOf(volume, outcome);
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
function doubtOf(volume: CutVolume, outcome: CutOutcome): string | undefined {
  const { readBack, next } = volume;
  if (outcome === 'path-cut') return undefined;
  if (readBack !== undefined) {
    return `no known mode does this: with the first pod gone, nobody else could have it (${readBack})`;
  }
  if (isBeside(besideOf(volume))) {
    return 'no known mode does this: the other node was given it before its detach from the first one had ended';
  }
  const isKept = outcome === 'not-detached' || outcome === 'next-refused';
  return isKept && next?.runningMs === undefined
    ? 'nobody waited to see whether another node ever has it'
    : undefined;
}

function judge(cut: CutRecord, volume: CutVolume, facts: Facts): Judged {
  const { writerJournal: journal, clockErrorMs, deleteAskedMs } = volume;
  const { cutMs, healedMs } = cut;
  if (volume.ended !== undefined) return undecided(volume.ended);
  if (cutMs === undefined) return undecided('nobody saw the node cut off');
  if (healedMs === undefined) return undecided('nobody saw the node healed');
  if (deleteAskedMs === undefined) return undecided('there was no remedy');
  if (journal.writes.length === 0) return undecided('the writer’s journal was not found');
  if (journal.gaps > 0) return undecided(`${journal.gaps} lines of the writer are missing`);
  if (clockErrorMs === undefined) return undecided('the clock of the writer’s node is not known');
  if ((journal.endedMs ?? Infinity) + (volume.clockOffsetMs ?? 0) < healedMs) {
    return undecided('the writer ended by itself before the heal');
  }
  return judgeWriting(volume, { ...facts, clockErrorMs, cutMs, healedMs });
}

interface Timed extends Facts {
  readonly clockErrorMs: number;
  readonly cutMs: number;
  readonly healedMs: number;
}

function judgeWriting(volume: CutVolume, facts: Timed): Judged {
  const { acks, next, overlapAcks, clockErrorMs, healedMs } = facts;
  const lastMs = acks.filter(({ begunMs }) => begunMs < healedMs).at(-1)?.begunMs ?? 0;
  const askedMs = volume.attachments[0]?.deletingMs ?? volume.thereUntilMs ?? Infinity;
  const wroteOn = healedMs - lastMs < silentMs;
  if (!wroteOn && lastMs < askedMs - silentMs) return judgeStopped(volume, facts, lastMs);
  if (next.inMs !== undefined) {
    if (wroteOn) return ['both-wrote', `${overlapAcks} writes beside the next pod’s`];
    const { goneMs = next.inMs, thereUntilMs = goneMs } = volume;
    if (lastMs <= goneMs + clockErrorMs) return judgeBefore(lastMs, { goneMs, thereUntilMs });
    const tail = toldInSeconds(lastMs - goneMs);
    if (overlapAcks === 0)
      return ['cut-before-next', `writes were acknowledged for ${tail} after the detach`];
    return ['late-cut', `${overlapAcks} writes beside the next pod’s, to ${tail} after the detach`];
  }
  if (!wroteOn) return undecided('it was cut off, and the next pod was never in');
  if (volume.goneMs === undefined) return judgeHeld(volume, askedMs, healedMs);
  if (next.was === 'refused') return ['next-refused', next.said ?? ''];
  return undecided(`the next pod was ${next.was}, and the writer wrote on`);
}

/** It stopped before its detach was seen to be asked for: before it was asked for, too, if looks came near. */
function judgeStopped(volume: CutVolume, { cutMs, healedMs }: Timed, lastMs: number): Judged {
  const [old] = volume.attachments;
  // Older records have the remedy alone, before which nobody asks.
  const seenMs = old?.deletingMs === undefined ? old?.lastSeenMs : undefined;
  const unaskedMs = old?.unaskedMs ?? seenMs ?? volume.deleteAskedMs ?? 0;
  const when = `${toldInSeconds(lastMs - cutMs)} after the cut`;
  if (lastMs < unaskedMs - silentMs) {
    return ['path-cut', `the last write was acknowledged ${when}, before any detach`];
  }
  const untilMs = Math.min(old?.deletingMs ?? Infinity, healedMs);
  return undecided(
    `the last write was acknowledged ${when}, and nobody looked at its attachment in the ${toldInSeconds(untilMs - unaskedMs)} in which its detach was asked for: which came first is not known`,
  );
}

/** That a driver keeps a volume is told by a detach that it was asked for. */
function judgeHeld({ writer }: CutVolume, askedMs: number, healedMs: number): Judged {
  if (askedMs < healedMs) return ['not-detached', 'the attachment stayed to the heal'];
  const isThere = (writer?.goneMs ?? Infinity) >= healedMs;
  const why = isThere ? 'the API had its pod to the heal' : 'the heal came too early';
  return undecided(`nobody asked for its detach: ${why} (--heal-after)`);
}

/** The detach ended between two looks: a write in between may be younger than its answer. */
function judgeBefore(
  lastMs: number,
  { goneMs, thereUntilMs }: { readonly goneMs: number; readonly thereUntilMs: number },
): Judged {
  const youngerMs = lastMs - thereUntilMs;
  if (youngerMs <= nearMs) return ['cut-at-detach', 'no write came through after it'];
  const gap = toldInSeconds(goneMs - thereUntilMs);
  return [
    'cut-near-detach',
    `nobody looked at its attachment for ${gap}: the last write may be ${toldInSeconds(youngerMs)} younger than its end`,
  ];
}

/** The modes that agree with all; undefined where nothing was decided. */
export function modesOf(findings: readonly CutFinding[]): readonly DiskMode[] | undefined {
  const decided = findings.filter(({ modes }) => modes.length > 0);
  const [first, ...others] = decided;
  return first?.modes.filter((mode) => others.every(({ modes }) => modes.includes(mode)));
}
