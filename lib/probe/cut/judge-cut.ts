/**
 * What became of a volume under a cut, by rules alone: pure. Nobody is called cut off of whom no failure was
 * heard, and no two are called writers of whom one never was; what does not tell is `undecided`.
 */
import { toldInSeconds } from '../../durations.ts';
import { answeredMs, type Write } from '../trials/journal.ts';
import { heardBefore, steadyWrites, unreadable } from '../trials/steady.ts';
import { askedOf, healSeenMs, overlapOf, silentMs, unaskedOf, type Evidence } from './evidence.ts';
import type { CutRecord, CutVolume } from './record.ts';

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

export type JudgedCut = readonly [CutOutcome, string];
export const undecided = (why: string): JudgedCut => ['undecided', why];

/** Looks at an attachment come each 500 ms; on a busy machine some are late. */
const nearMs = 2000;

interface TimedEvidence extends Evidence {
  readonly clockErrorMs: number;
  readonly cutMs: number;
  readonly healedMs: number;
}

export function judgeCut(cut: CutRecord, volume: CutVolume, evidence: Evidence): JudgedCut {
  const { writerJournal: journal, clockErrorMs = 0 } = volume;
  const { cutMs, healedMs, armedBootId, healedBootId = armedBootId } = cut;
  if (volume.ended !== undefined) return undecided(volume.ended);
  if (cutMs === undefined) return undecided('nobody saw the node cut off');
  if (healedMs === undefined) return undecided('nobody saw the node healed');
  const reached = whyReached(cut, cutMs, healedMs);
  if (reached !== undefined) return undecided(reached);
  if (healedBootId !== armedBootId) {
    return undecided('the node was started anew under the cut: its boot id is another one');
  }
  if (volume.deleteAskedMs === undefined) return undecided('there was no remedy');
  if (journal.writes.length === 0) return undecided('the writer’s journal was not found');
  const why = unreadable(volume);
  if (why !== undefined) return undecided(why);
  const before = heardBefore(evidence.acks, cutMs).writes;
  if (before < steadyWrites) {
    return undecided(`only ${before} writes were acknowledged before the cut`);
  }
  if ((journal.endedMs ?? Infinity) + (volume.clockOffsetMs ?? 0) < healedMs) {
    return undecided('the writer ended by itself before the heal');
  }
  return judgeWriting(volume, { ...evidence, clockErrorMs, cutMs, healedMs });
}

/** The looks from the second node have to find it away from the cut to the heal. */
function whyReached({ looks }: CutRecord, cutMs: number, healedMs: number): string | undefined {
  if (looks.findLast(({ atMs }) => atMs <= cutMs)?.word !== 'down') {
    return 'no look from the second node found it away at the cut';
  }
  const up = looks.find(
    ({ word, atMs }) => word === 'up' && atMs > cutMs && atMs < healedMs - healSeenMs,
  );
  return up === undefined
    ? undefined
    : `the node was reached ${toldInSeconds(up.atMs - cutMs)} after the cut, before its heal`;
}

function judgeWriting(volume: CutVolume, facts: TimedEvidence): JudgedCut {
  const { acks, lateSlots, awayUntilMs } = facts;
  if (wroteOn(facts)) return judgeOn(volume, facts);
  const isLate = acks.some((write) => answeredMs(write) >= awayUntilMs);
  return isLate || lateSlots.length > 0 ? judgeLate(volume, facts) : judgeEnd(volume, facts);
}

/** To the heal, and not only since then. */
function wroteOn({ acks, awayUntilMs, healedMs }: TimedEvidence): boolean {
  const lastBefore = (atMs: number): number =>
    acks.map(answeredMs).findLast((answered) => answered < atMs) ?? -Infinity;
  return (
    healedMs - lastBefore(healedMs) < silentMs && awayUntilMs - lastBefore(awayUntilMs) < silentMs
  );
}

const beside = (facts: TimedEvidence): string =>
  `${overlapOf(facts, facts.healedMs)} writes were acknowledged beside the next pod’s, and ${facts.besideSlots.length} came to the disk after it had read it`;

const isBesideNext = (facts: TimedEvidence): boolean =>
  overlapOf(facts, facts.healedMs) + facts.besideSlots.length > 0;

/** That its program runs is no write. */
function nextSilent({ nextJournal }: CutVolume): JudgedCut {
  const { error } = nextJournal.writes[0] ?? {};
  const told = error === undefined ? '' : ` (${error})`;
  return undecided(`the next pod was in, and no write of it was acknowledged${told}`);
}

function judgeOn(volume: CutVolume, facts: TimedEvidence): JudgedCut {
  const { next, nextWroteMs, healedMs } = facts;
  if (next.inMs !== undefined) {
    if (nextWroteMs === Infinity) return nextSilent(volume);
    if (!isBesideNext(facts))
      return undecided('no write is known to have come beside the next pod’s');
    const horizon = toldInSeconds(healedMs - next.inMs);
    return ['both-wrote', `${beside(facts)}, to the heal, ${horizon} after it was in`];
  }
  if (volume.goneMs === undefined) return judgeHeld(volume, healedMs);
  if (next.was === 'refused') return ['next-refused', next.said ?? ''];
  return undecided(`the next pod was ${next.was}, and the writer wrote on`);
}

/** That a driver keeps a volume is told by a detach that it was asked for. */
function judgeHeld(volume: CutVolume, healedMs: number): JudgedCut {
  if (askedOf(volume) < healedMs) return ['not-detached', 'the attachment stayed to the heal'];
  const isThere = (volume.writer?.goneMs ?? Infinity) >= healedMs;
  const why = isThere ? 'the API had its pod to the heal' : 'the heal came too early';
  return undecided(`nobody asked for its detach: ${why} (--heal-after)`);
}

/** Writes that came when the node was back, new ones or such as had been held: of a path that was cut they tell. */
function judgeLate(volume: CutVolume, facts: TimedEvidence): JudgedCut {
  const { acks, next, nextWroteMs, besideSlots, lateSlots, awayUntilMs, clockErrorMs } = facts;
  const late = acks.filter((write) => answeredMs(write) >= awayUntilMs);
  const said = `${late.length} writes were acknowledged once the node was back`;
  if (next.inMs === undefined || nextWroteMs === Infinity) {
    return undecided(`${said}, and the next pod (${next.was}) had written nothing`);
  }
  const begun = late.filter(({ begunMs }) => begunMs > nextWroteMs + clockErrorMs).length;
  if (begun + lateSlots.length === 0) {
    return undecided(`${said}; whether they came to the disk beside the next pod’s nobody saw`);
  }
  const why = `${said}, beside the next pod’s, and ${besideSlots.length} came to the disk after it had read it`;
  const lastMs = acks.map(answeredMs).findLast((answered) => answered < awayUntilMs) ?? 0;
  if (lastMs < unaskedOf(volume) - silentMs) return ['wrote-after-heal', why];
  return undecided(
    `no known mode does this: it wrote to its detach, and not from there to the heal; wrote-after-heal: ${why}`,
  );
}

/** Not heard of at the heal, nor after it. */
function judgeEnd(volume: CutVolume, facts: TimedEvidence): JudgedCut {
  const { writes, acks, cutMs, besideSlots } = facts;
  const last = acks.at(-1);
  if (last === undefined) return undecided('no write was acknowledged');
  const lastMs = answeredMs(last);
  const when = `${toldInSeconds(lastMs - cutMs)} after the cut`;
  const failed = writes[writes.indexOf(last) + 1];
  const silence = (failed?.begunMs ?? Infinity) - lastMs;
  if (silence > silentMs) {
    const told = failed === undefined ? '' : ` for ${toldInSeconds(silence)}`;
    const slots = besideSlots.length === 0 ? '' : `; ${beside(facts)}`;
    return undecided(
      `nothing was heard of the writer${told} after its last write, ${when}: it may have hung, or be gone${slots}`,
    );
  }
  if (lastMs >= askedOf(volume) - silentMs) return judgeCutOff(volume, facts, last);
  if (isBesideNext(facts)) {
    return undecided(`its writes failed from ${when}, before any detach, and yet ${beside(facts)}`);
  }
  return judgeStopped(volume, facts, { lastMs, when });
}

/** It stopped before its detach was seen to be asked for: before it was asked for, too, if looks came near. */
function judgeStopped(
  volume: CutVolume,
  { healedMs }: TimedEvidence,
  { lastMs, when }: { readonly lastMs: number; readonly when: string },
): JudgedCut {
  const unaskedMs = unaskedOf(volume);
  if (lastMs < unaskedMs - silentMs) {
    return ['path-cut', `the last write was acknowledged ${when}, before any detach`];
  }
  const untilMs = Math.min(volume.attachments[0]?.deletingMs ?? Infinity, healedMs);
  return undecided(
    `the last write was acknowledged ${when}, and nobody looked at its attachment in the ${toldInSeconds(untilMs - unaskedMs)} in which its detach was asked for: which came first is not known`,
  );
}

/** It was told that it was cut off, at its detach or later. */
function judgeCutOff(volume: CutVolume, facts: TimedEvidence, last: Write): JudgedCut {
  const { acks, next, nextWroteMs, besideSlots, clockErrorMs, healedMs } = facts;
  if (next.inMs === undefined) return undecided('it was cut off, and the next pod was never in');
  if (nextWroteMs === Infinity) return nextSilent(volume);
  const { goneMs = next.inMs, thereUntilMs = goneMs } = volume;
  const tail = `${toldInSeconds(Math.max(0, last.begunMs - goneMs))} after the detach`;
  const acked = new Set(acks.map(({ seq }) => seq));
  if (overlapOf(facts, healedMs) > 0 || besideSlots.some((seq) => acked.has(seq))) {
    return ['late-cut', `${beside(facts)}, to ${tail}`];
  }
  if (besideSlots.length > 0) {
    return undecided(
      `no known mode does this: ${besideSlots.length} writes that failed came to the disk after the next pod had read it`,
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
