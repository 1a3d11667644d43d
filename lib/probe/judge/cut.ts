/**
 * From what a cut left of a volume to what its class did, and to the modes that do so, by rules alone: pure.
 * Nobody is called cut off of whom no failure was heard, and no two are called writers of whom one never was;
 * what does not tell is `undecided`.
 */
import type { DiskMode } from '../../scenario/index.ts';
import { toldInSeconds } from '../../core/index.ts';
import { type Reason, because } from '../../judge/index.ts';
import { type Planned, contradictionsIn, healSeenMs } from './facts.ts';
import {
  type Heard,
  type Judged,
  answeredMs,
  decided,
  heardOf,
  nextWroteMs,
  noMode,
  settled,
  sinceOf,
  slotsLater,
  unreadable,
  wasBlind,
} from './heard.ts';
import type { CutRecord, CutVolume, Write } from './record.ts';
import type { CutRemedy } from '../plan.ts';

export type CutOutcome =
  /** The old writer wrote on beside the next one, to the heal. */
  | 'both-wrote'
  /** The cut took its storage, and once the node was back it wrote beside the next one. */
  | 'wrote-after-heal'
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

export type CutFinding = ReturnType<typeof findingOf>;

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
/** What does so where the remedy is that one (lib/scenario/disks has what each does). */
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

/** The modes that agree with all; undefined where nothing was decided. */
export function modesOf(findings: readonly CutFinding[]): readonly DiskMode[] | undefined {
  const [first, ...others] = findings.filter(({ modes }) => modes.length > 0);
  return first?.modes.filter((mode) => others.every(({ modes }) => modes.includes(mode)));
}

/** Modes of all classes under the cut, once each. */
export const modesSeen = (findings: readonly CutFinding[]): readonly DiskMode[] => [
  ...new Set(findings.flatMap(({ modes }) => modes)),
];

export interface PlannedCut extends Planned {
  readonly remedy: CutRemedy;
}

export const classifyAll = (record: CutRecord, plan: PlannedCut): CutFinding[] =>
  record.volumes.map((volume) => classifyCut(record, volume, plan));

export const classifyCut = (cut: CutRecord, record: CutVolume, plan: PlannedCut): CutFinding =>
  findingOf(cut, toTheHeal(cut, record), plan, contradictionsIn(record, plan, cut));

function findingOf(
  cut: CutRecord,
  volume: CutVolume,
  { remedy }: PlannedCut,
  { ofRecords, ofDriver }: ReturnType<typeof contradictionsIn>,
) {
  const evidence = evidenceOf(cut, volume);
  const judged = judgeCut(cut, volume, evidence);
  const wouldBe = 'code' in judged ? 'undecided' : judged[0];
  const doubts = doubtsOf(volume, evidence, wouldBe, ofDriver.length > 0);
  const { outcome, ...reasoned } = unlessDenied(volume, judged, [...ofRecords, ...doubts]);
  const { writes, acks, next, besideSlots } = evidence;
  const { healedMs = Infinity } = cut;
  const { deleteAskedMs, writer: { goneMs = Infinity } = {} } = volume;
  const since = deleteAskedMs === undefined ? () => undefined : sinceOf(deleteAskedMs);
  return {
    ...{ name: volume.name, storageClass: volume.storageClass, outcome, ...reasoned, next },
    storagePath: ofRecords.length > 0 ? ('unknown' as const) : storagePathOf(cut, volume, evidence),
    /** All from the remedy. The API had the pod no more. */
    podGoneMs: since(goneMs < healedMs ? goneMs : undefined),
    detachedMs: since(volume.goneMs),
    lastAckMs: since(acks.at(-1)?.begunMs),
    error: writes.find((write) => write.error !== undefined)?.error,
    /** Number of the old writer's writes that were acknowledged before the heal, and begun once the next pod's were. */
    overlapAcks: overlapOf(evidence, healedMs),
    /** Number of its writes that came to the disk after the next pod had read their place. */
    overlapSlots: besideSlots.length,
    /** Number of its writes that were acknowledged after the heal, whenever they were begun. */
    afterHealAcks: acks.filter((write) => answeredMs(write) > healedMs).length,
    /** All that do so; empty where it is undecided. */
    modes: modesThat[remedy][outcome],
  };
}

/** A node that is back lets go of its volumes: what comes then is no forced detach. */
function toTheHeal({ healedMs = Infinity }: CutRecord, volume: CutVolume): CutVolume {
  const { goneMs = Infinity, thereUntilMs: _, ...stays } = volume;
  const watchEndedMs = Math.min(healedMs, volume.watchEndedMs ?? Infinity);
  return goneMs < healedMs ? { ...volume, watchEndedMs } : { ...stays, watchEndedMs };
}

/** Writes come each 100 ms; of a writer that was silent for longer nothing is known. */
const silentMs = 3000;
type Evidence = ReturnType<typeof evidenceOf>;

function evidenceOf({ healedMs = Infinity }: CutRecord, volume: CutVolume) {
  const heard = heardOf(volume);
  const { nextJournal } = volume;
  const { scans, isDirect, gaps } = nextJournal;
  const awayUntilMs = healedMs - healSeenMs;
  const reads = isDirect === true && scans.length > 1 && gaps === 0 && !wasBlind(nextJournal);
  const isUnseen = heard.besideSlots.length === 0 && settled(volume, heard.besideAcks).length > 0;
  return {
    ...heard,
    /** The next pod's first acknowledged write; Infinity: none. */
    nextWroteMs: nextWroteMs(volume),
    /** The node was still away. */
    awayUntilMs,
    /** Those of the slots beside the next pod's that it found no sooner than the node was back. */
    lateSlots: slotsLater(volume, awayUntilMs),
    /** Writes beside the next pod's that it must have found, and it found nothing. */
    isUnseen: reads && isUnseen,
  };
}

/** Acknowledged beside the next pod's while the node was away, and once it was back. */
const overlapOf = ({ besideAcks }: Heard, healedMs: number): number =>
  besideAcks.filter((write) => answeredMs(write) < healedMs).length;

/** Between these two its detach was asked for: the last look that found it unasked, and the first that did not. */
function unaskedOf({ attachments: [old], deleteAskedMs = 0 }: CutVolume): number {
  // Older records have the remedy alone, before which nobody asks.
  const seenMs = old?.deletingMs === undefined ? old?.lastSeenMs : undefined;
  return old?.unaskedMs ?? seenMs ?? deleteAskedMs;
}
const askedOf = ({ attachments: [old], thereUntilMs = Infinity }: CutVolume): number =>
  old?.deletingMs ?? thereUntilMs;

type JudgedCut = Judged<CutOutcome>;

/** What was seen names no mode where records contradict each other, the driver does what none does, or that was not asked. */
function unlessDenied(volume: CutVolume, judged: JudgedCut, against: readonly Reason[]) {
  const isReason = 'code' in judged;
  if (!isReason && against.length === 0) return decided(judged, []);
  const { detachError: error } = volume.attachments[0] ?? {};
  const said = `the driver said of the detach: ${error}`;
  return decided(judged, [
    ...against,
    ...(isReason ? [] : [because('DENIED', judged.join(': '), { outcome: judged[0] })]),
    ...(error === undefined ? [] : [because('DRIVER_ERROR', said, { error })]),
  ]);
}

/** A volume that nobody uses any more can be had elsewhere, and none whose detach has not ended. */
function doubtsOf(
  { readBack, next }: CutVolume,
  { besideAcks, besideSlots, isUnseen }: Evidence,
  outcome: CutOutcome,
  isGivenTwice: boolean,
): Reason[] {
  if (outcome === 'path-cut') return [];
  if (readBack !== undefined) {
    return [noMode(`with the first pod gone, nobody else could have it (${readBack})`)];
  }
  if (isGivenTwice) {
    return [noMode('the other node was given it before its detach from the first one had ended')];
  }
  if (isUnseen) {
    const acked = `${besideAcks.length} writes were acknowledged beside the next pod’s`;
    return [noMode(`${acked}, and it found none of them on the disk`)];
  }
  if (outcome !== 'not-detached' && outcome !== 'next-refused') return [];
  if (besideAcks.length + besideSlots.length > 0) {
    return [noMode('the next pod was given it while the first one wrote')];
  }
  return next?.runningMs === undefined
    ? [because('NOT_WAITED', 'nobody waited to see whether another node ever has it')]
    : [];
}

/** Looks at an attachment come each 500 ms; on a busy machine some are late. */
const nearMs = 2000;

type TimedEvidence = Evidence & Readonly<Record<'clockErrorMs' | 'cutMs' | 'healedMs', number>>;

function judgeCut(
  { cutMs, healedMs }: CutRecord,
  volume: CutVolume,
  evidence: Evidence,
): JudgedCut {
  const { writerJournal: journal, clockErrorMs = 0 } = volume;
  if (volume.ended !== undefined) return because('STEP_FAILED', volume.ended);
  if (cutMs === undefined) return because('CUT_UNSEEN', 'nobody saw the node cut off');
  if (healedMs === undefined) return because('HEAL_UNSEEN', 'nobody saw the node healed');
  if (volume.deleteAskedMs === undefined) return because('NO_REMEDY', 'there was no remedy');
  if (journal.writes.length === 0) {
    return because('JOURNAL_MISSING', 'the writer’s journal was not found');
  }
  return (
    unreadable(volume, evidence.acks, cutMs, 'cut') ??
    judgeWriting(volume, { ...evidence, clockErrorMs, cutMs, healedMs })
  );
}

function judgeWriting(volume: CutVolume, facts: TimedEvidence): JudgedCut {
  const { acks, lateSlots, awayUntilMs, healedMs } = facts;
  const lastBefore = (atMs: number): number =>
    acks.map(answeredMs).findLast((answered) => answered < atMs) ?? -Infinity;
  // To the heal, and not only since then.
  const wroteOn = [healedMs, awayUntilMs].every((atMs) => atMs - lastBefore(atMs) < silentMs);
  if (wroteOn) return judgeOn(volume, facts);
  const isLate = acks.some((write) => answeredMs(write) >= awayUntilMs);
  return isLate || lateSlots.length > 0 ? judgeLate(volume, facts) : judgeEnd(volume, facts);
}

const beside = (facts: TimedEvidence): string =>
  `${overlapOf(facts, facts.healedMs)} writes were acknowledged beside the next pod’s, and ${facts.besideSlots.length} came to the disk after it had read it`;

const isBesideNext = (facts: TimedEvidence): boolean =>
  overlapOf(facts, facts.healedMs) + facts.besideSlots.length > 0;

/** That its program runs is no write. */
function nextSilent({ nextJournal }: CutVolume): Reason {
  const { error } = nextJournal.writes[0] ?? {};
  const told = error === undefined ? '' : ` (${error})`;
  const words = `the next pod was in, and no write of it was acknowledged${told}`;
  return because('NEXT_SILENT', words);
}

function judgeOn(volume: CutVolume, facts: TimedEvidence): JudgedCut {
  const { next, healedMs } = facts;
  if (next.inMs !== undefined) {
    if (facts.nextWroteMs === Infinity) return nextSilent(volume);
    if (!isBesideNext(facts)) {
      return because('NOT_BESIDE', 'no write is known to have come beside the next pod’s');
    }
    const horizon = toldInSeconds(healedMs - next.inMs);
    return ['both-wrote', `${beside(facts)}, to the heal, ${horizon} after it was in`];
  }
  if (volume.goneMs !== undefined) {
    return next.was === 'refused'
      ? ['next-refused', next.said ?? '']
      : because('NEXT_OUT', `the next pod was ${next.was}, and the writer wrote on`);
  }
  // That a driver keeps a volume is told by a detach that it was asked for.
  if (askedOf(volume) < healedMs) return ['not-detached', 'the attachment stayed to the heal'];
  const isThere = (volume.writer?.goneMs ?? Infinity) >= healedMs;
  const why = isThere ? 'the API had its pod to the heal' : 'the heal came too early';
  return because('DETACH_NOT_REQUESTED', `nobody asked for its detach: ${why} (--heal-after)`);
}

/** Writes that came when the node was back, new ones or such as had been held: of a path that was cut they tell. */
function judgeLate(volume: CutVolume, facts: TimedEvidence): JudgedCut {
  const { acks, next, besideSlots, lateSlots, awayUntilMs, clockErrorMs } = facts;
  const late = acks.filter((write) => answeredMs(write) >= awayUntilMs);
  const said = `${late.length} writes were acknowledged once the node was back`;
  if (next.inMs === undefined || facts.nextWroteMs === Infinity) {
    return because('NEXT_SILENT', `${said}, and the next pod (${next.was}) had written nothing`);
  }
  const begun = late.filter(({ begunMs }) => begunMs > facts.nextWroteMs + clockErrorMs).length;
  if (begun + lateSlots.length === 0) {
    const words = `${said}; whether they came to the disk beside the next pod’s nobody saw`;
    return because('NOT_BESIDE', words);
  }
  const why = `${said}, beside the next pod’s, and ${besideSlots.length} came to the disk after it had read it`;
  const lastMs = acks.map(answeredMs).findLast((answered) => answered < awayUntilMs) ?? 0;
  if (lastMs < unaskedOf(volume) - silentMs) return ['wrote-after-heal', why];
  return noMode(`it wrote to its detach, and not from there to the heal; wrote-after-heal: ${why}`);
}

/** Not heard of at the heal, nor after it. */
function judgeEnd(volume: CutVolume, facts: TimedEvidence): JudgedCut {
  const { writes, acks, cutMs, healedMs, besideSlots } = facts;
  const last = acks.at(-1);
  if (last === undefined) return because('FEW_WRITES', 'no write was acknowledged');
  const lastMs = answeredMs(last);
  const when = `${toldInSeconds(lastMs - cutMs)} after the cut`;
  const failed = writes[writes.indexOf(last) + 1];
  const silence = (failed?.begunMs ?? Infinity) - lastMs;
  if (silence > silentMs) {
    const told = failed === undefined ? '' : ` for ${toldInSeconds(silence)}`;
    const slots = besideSlots.length === 0 ? '' : `; ${beside(facts)}`;
    return because(
      'WRITER_UNHEARD',
      `nothing was heard of the writer${told} after its last write, ${when}: it may have hung, or be gone${slots}`,
    );
  }
  if (lastMs >= askedOf(volume) - silentMs) return judgeCutOff(volume, facts, last);
  if (isBesideNext(facts)) {
    const words = `its writes failed from ${when}, before any detach, and yet ${beside(facts)}`;
    return because('WROTE_AGAIN', words);
  }
  // It stopped before its detach was seen to be asked for: before it was asked for, too, if looks came near.
  const unaskedMs = unaskedOf(volume);
  if (lastMs < unaskedMs - silentMs) {
    return ['path-cut', `the last write was acknowledged ${when}, before any detach`];
  }
  const untilMs = Math.min(volume.attachments[0]?.deletingMs ?? Infinity, healedMs);
  return because(
    'DETACH_UNSEEN',
    `the last write was acknowledged ${when}, and nobody looked at its attachment in the ${toldInSeconds(untilMs - unaskedMs)} in which its detach was asked for: which came first is not known`,
  );
}

/** It was told that it was cut off, at its detach or later. */
function judgeCutOff(volume: CutVolume, facts: TimedEvidence, last: Write): JudgedCut {
  const { acks, next, besideSlots, clockErrorMs, healedMs } = facts;
  if (next.inMs === undefined) {
    return because('NEXT_OUT', 'it was cut off, and the next pod was never in');
  }
  if (facts.nextWroteMs === Infinity) return nextSilent(volume);
  const { goneMs = next.inMs, thereUntilMs = goneMs } = volume;
  const tail = `${toldInSeconds(Math.max(0, last.begunMs - goneMs))} after the detach`;
  const acked = new Set(acks.map(({ seq }) => seq));
  if (overlapOf(facts, healedMs) > 0 || besideSlots.some((seq) => acked.has(seq))) {
    return ['late-cut', `${beside(facts)}, to ${tail}`];
  }
  if (besideSlots.length > 0) {
    return noMode(
      `${besideSlots.length} writes that failed came to the disk after the next pod had read it`,
    );
  }
  if (last.begunMs > goneMs + clockErrorMs) {
    return ['cut-before-next', `writes were acknowledged for ${tail}`];
  }
  // The detach ended between two looks: a write in between may be younger than its answer.
  const youngerMs = answeredMs(last) - thereUntilMs;
  if (youngerMs <= nearMs) return ['cut-at-detach', 'no write came through after it'];
  const gap = toldInSeconds(goneMs - thereUntilMs);
  return [
    'cut-near-detach',
    `its attachment ended somewhere in ${gap}: the last write may be ${toldInSeconds(youngerMs)} younger than its end`,
  ];
}

/**
 * Whether a cut took a volume's storage path with it. Of a writer that could not write nobody knows who fenced
 * it, so a certificate says on which of the two its answer rests.
 */
export const storagePaths = [
  /** Its writes were acknowledged until its detach was asked for, or to the heal. */
  'survived',
  /** They failed before anybody had asked for that. */
  'cut',
  /** The records do not tell. */
  'unknown',
] as const;
export type StoragePath = (typeof storagePaths)[number];

function storagePathOf(
  { cutMs, healedMs }: CutRecord,
  volume: CutVolume,
  { writes, acks }: Evidence,
): StoragePath {
  const { writerJournal: journal, clockErrorMs } = volume;
  const isBlind = writes.length === 0 || journal.gaps > 0 || clockErrorMs === undefined;
  if (cutMs === undefined || healedMs === undefined || isBlind) return 'unknown';
  const last = acks.findLast(({ begunMs }) => begunMs < healedMs);
  const lastMs = last?.begunMs ?? 0;
  if (lastMs >= Math.min(askedOf(volume), healedMs) - silentMs) return 'survived';
  // A writer of which nothing more is heard may hang, or be gone.
  const failed = last && writes[writes.indexOf(last) + 1];
  const isHeard = (failed?.begunMs ?? Infinity) <= lastMs + silentMs;
  return isHeard && lastMs < Math.min(unaskedOf(volume), healedMs) - silentMs ? 'cut' : 'unknown';
}
