/**
 * Compares what witnesses state of a run: of each fact every witness with every other one, and with itself,
 * per item and over time. A witness reports a change some time after it, or a little before: the rest of a
 * statement is certain. Two contradict each other where both are certain of different values.
 */

/** Says nothing, and agrees with everything. */
export const unknown = Symbol('unknown');

/** An item has this value from then to then; a moment has one time. */
export interface Statement extends Span {
  /** Which of the fact's things: a node, a path, a setting. */
  readonly item: string;
  /** A number is a count, which never shrinks. */
  readonly value: string | number | typeof unknown;
}

/** All that a witness states of a fact. */
export interface Testimony<Witness extends string = string> {
  readonly witness: Witness;
  /** How long after a change, and how long before it, it may report it. */
  readonly lateMs: number;
  readonly earlyMs: number;
  /** How far its counts may be off beside that. Default 0. */
  readonly slack?: number;
  /** From when to when it saw: of other times it says nothing that it does not state. */
  readonly sees: Span;
  readonly statements: readonly Statement[];
  /** What it states of each item, while it sees, where no span of its own is: it sees all there is. */
  readonly otherwise?: string;
}

/** A stretch of the run's clock, ms. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Both ends included. */
export const isWithin = ({ fromMs, toMs }: Span, atMs: number): boolean =>
  fromMs <= atMs && atMs <= toMs;

/** All that two witnesses state differently of one item. */
export interface Contradiction<Witness extends string = string> {
  readonly item: string;
  /** The first moment at which they differ. */
  readonly atMs: number;
  readonly one: Side<Witness>;
  readonly other: Side<Witness>;
  /** So many statements differ. */
  readonly count: number;
}

interface Side<Witness extends string> {
  readonly witness: Witness;
  readonly value: string | number;
}

export function contradictionsOf<Witness extends string>(
  testimonies: readonly Testimony<Witness>[],
): Contradiction<Witness>[] {
  const items = new Set(testimonies.flatMap((each) => each.statements.map(({ item }) => item)));
  return [...items].flatMap((item) => {
    const accounts = testimonies.map((each) => accountOf(each, item));
    return accounts.flatMap((one, index) =>
      accounts.slice(index).flatMap((other) => compared(item, one, other)),
    );
  });
}

type Known = Statement & { readonly value: string | number };
type Counted = Statement & { readonly value: number };

/** What one witness states of one item, in order of time. */
interface Account<Witness extends string> {
  readonly testimony: Testimony<Witness>;
  readonly spans: readonly Known[];
  readonly moments: readonly Known[];
  readonly counts: readonly Counted[];
}

function accountOf<W extends string>(testimony: Testimony<W>, item: string): Account<W> {
  const { statements, otherwise: value, sees } = testimony;
  const own = statements.filter((each) => each.item === item);
  const spans = own.filter((each) => !isMoment(each)).toSorted(inTime);
  const filled = value === undefined ? [] : holesBetween(spans, { ...{ item, value }, ...sees });
  const points = own.filter(isMoment).toSorted(inTime);
  return {
    testimony,
    spans: [...spans, ...filled].filter(isKnown).toSorted(inTime),
    moments: points.filter(isKnown).filter((each) => !isCounted(each)),
    counts: points.filter(isCounted),
  };
}

const isKnown = (each: Statement): each is Known => each.value !== unknown;
const isCounted = (each: Statement): each is Counted => typeof each.value === 'number';
const isMoment = ({ fromMs, toMs }: Statement): boolean => fromMs === toMs;
const inTime = (a: Statement, b: Statement): number => a.fromMs - b.fromMs || a.toMs - b.toMs;

/** The filler where no span is. */
function holesBetween(spans: readonly Statement[], filler: Statement): Statement[] {
  const holes: Statement[] = [];
  let { fromMs } = filler;
  for (const span of [...spans, { ...filler, fromMs: filler.toMs }]) {
    const toMs = Math.min(span.fromMs, filler.toMs);
    if (toMs > fromMs) holes.push({ ...filler, fromMs, toMs });
    fromMs = Math.max(fromMs, span.toMs);
  }
  return holes;
}

interface Clash {
  readonly atMs: number;
  readonly values: readonly [one: string | number, other: string | number];
}

function compared<W extends string>(
  item: string,
  one: Account<W>,
  other: Account<W>,
): Contradiction<W>[] {
  const turned = one === other ? [] : [...clashesOf(other, one)].map(turn);
  const clashes = [...spanClashes(one, other), ...clashesOf(one, other), ...turned];
  if (clashes.length === 0) return [];
  const { atMs, values } = clashes.reduce((a, b) => (b.atMs < a.atMs ? b : a));
  const side = ({ testimony }: Account<W>, value: string | number): Side<W> => ({
    witness: testimony.witness,
    value,
  });
  const sides = { one: side(one, values[0]), other: side(other, values[1]) };
  return [{ item, atMs, ...sides, count: clashes.length }];
}

const turn = ({ atMs, values: [one, other] }: Clash): Clash => ({ atMs, values: [other, one] });

const clashesOf = <W extends string>(one: Account<W>, other: Account<W>): Clash[] => [
  ...momentClashes(one, other),
  ...miscounts(one, other),
];

/** The part of a span that holds whenever its changes were. */
const certainPart = ({ fromMs, toMs }: Span, { lateMs, earlyMs }: Testimony): Span => ({
  fromMs: fromMs + earlyMs,
  toMs: toMs - lateMs,
});

const certainIn = <W extends string>({ spans, testimony }: Account<W>): Known[] =>
  spans
    .map((span) => ({ ...span, ...certainPart(span, testimony) }))
    .filter(({ fromMs, toMs }) => fromMs < toMs);

function spanClashes<W extends string>(one: Account<W>, other: Account<W>): Clash[] {
  const others = certainIn(other);
  return certainIn(one).flatMap((a) =>
    others
      .filter((b) => a.value !== b.value && a.fromMs < b.toMs && b.fromMs < a.toMs)
      .map((b): Clash => ({ atMs: Math.max(a.fromMs, b.fromMs), values: [a.value, b.value] })),
  );
}

/** A sighting of another value than the other is certain of, whenever it was. */
function momentClashes<W extends string>(
  { moments, testimony: { lateMs, earlyMs } }: Account<W>,
  other: Account<W>,
): Clash[] {
  return certainIn(other).flatMap((span) => {
    const from = indexAfter(moments, span.fromMs + lateMs);
    const to = indexAfter(moments, span.toMs - earlyMs, from);
    return moments
      .slice(from, to)
      .filter(({ value }) => value !== span.value)
      .map(({ value, fromMs }): Clash => ({ atMs: fromMs, values: [value, span.value] }));
  });
}

/** Neither more than the other comes to a little later, nor less than it had a little before. */
function miscounts<W extends string>(
  { counts, testimony }: Account<W>,
  other: Account<W>,
): Clash[] {
  const { lateMs, earlyMs, slack = 0, sees } = other.testimony;
  const backMs = testimony.lateMs + earlyMs;
  const aheadMs = testimony.earlyMs + lateMs;
  const mayDiffer = slack + (testimony.slack ?? 0);
  const countAt = (atMs: number): number =>
    other.counts[indexAfter(other.counts, atMs) - 1]?.value ?? 0;
  return counts.flatMap(({ value, fromMs }): Clash[] => {
    if (fromMs - backMs < sees.fromMs || fromMs + aheadMs > sees.toMs) return [];
    const least = countAt(fromMs - backMs);
    const most = countAt(fromMs + aheadMs);
    if (value >= least - mayDiffer && value <= most + mayDiffer) return [];
    return [{ atMs: fromMs, values: [value, value < least ? least : most] }];
  });
}

/** Number of statements that begin no later than `atMs`; `statements` are in order of time. */
function indexAfter(statements: readonly Statement[], atMs: number, from = 0): number {
  let [low, high] = [from, statements.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((statements[middle]?.fromMs ?? 0) <= atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}
