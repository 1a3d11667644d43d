/**
 * From the findings of all trials to what the class does: the modes that agree with all of them, and
 * figures. Pure. One mode where one agrees; several where trials of this kind can't tell them apart.
 */
import type { DiskMode } from '../../disk-modes/index.ts';
import { detachVariants, type DetachVariant } from '../trial-plan.ts';
import type { TrialFinding, DetachOutcome } from './classify.ts';
import { isBeside, type NextFinding } from './next-pod.ts';

export interface Figure {
  readonly what: string;
  readonly n: number;
  /** Milliseconds; of few trials the 90th percentile is the longest. */
  readonly leastMs: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
  readonly mostMs: number;
}

export interface MeasuredClass {
  /** Undefined: undecided. */
  readonly mode: DiskMode | undefined;
  /** All that agree with every trial that could be decided. */
  readonly modes: readonly DiskMode[];
  /** Why it is undecided, or what else is to be said; a sentence each. */
  readonly notes: readonly string[];
  readonly counts: Readonly<
    Record<DetachVariant, Readonly<Partial<Record<DetachOutcome, number>>>>
  >;
  readonly next: Readonly<Partial<Record<NextFinding['was'], number>>>;
  readonly figures: readonly Figure[];
}

interface Signature {
  readonly kept: readonly DetachOutcome[];
  /** A cut that comes while it is quiet is seen after that time only. */
  readonly idle: readonly DetachOutcome[];
  /** What may become of the next pod, and of the writer then. */
  readonly contested: Readonly<Partial<Record<NextFinding['was'], readonly DetachOutcome[]>>>;
  /** Outcome of at least one trial in which the writer writes: the others can be too coarse to show it. */
  readonly shows?: DetachOutcome;
}

const notCut = { kept: ['not-cut'], idle: ['not-cut'] } as const;
const all = (
  outcomes: readonly DetachOutcome[],
  ...was: NextFinding['was'][]
): Signature['contested'] => Object.fromEntries(was.map((each) => [each, outcomes]));

/** A cut that comes between two looks at the attachment may have come before its end. */
const late: readonly DetachOutcome[] = ['late-cut', 'cut'];

/** What each mode shows on a healthy node without a taint; lib/disk-modes has what each does. */
const signatures: Readonly<Partial<Record<DiskMode, Signature>>> = {
  unfenced: { ...notCut, contested: all(['not-cut'], 'in', 'barred') },
  'fence-if-out-of-service': { ...notCut, contested: all(['not-cut'], 'in', 'barred') },
  exclusive: { ...notCut, contested: all(['not-cut'], 'refused', 'barred') },
  reservation: { ...notCut, contested: { in: ['cut-by-next'], barred: ['not-cut'] } },
  fenced: { kept: ['cut'], idle: ['cut'], contested: all(['cut'], 'in', 'barred') },
  'ack-early': {
    ...{ kept: late, idle: late, contested: all(late, 'in', 'barred') },
    shows: 'late-cut',
  },
  'pending-while-busy': {
    ...{ kept: ['pending'], idle: ['pending'] },
    contested: all(['pending'], 'barred', 'not-attached', 'waited'),
  },
};

export function measure(findings: readonly TrialFinding[]): MeasuredClass {
  const decided = findings.filter(({ outcome }) => outcome !== 'undecided');
  const lost = findings.filter(({ lostAcks = 0 }) => lostAcks > 0);
  const agreeing = (Object.keys(signatures) as DiskMode[]).filter((mode) => {
    const signature = signatures[mode];
    if (signature === undefined) return false;
    return shows(decided, signature) && decided.every((finding) => agrees(finding, signature));
  });
  const lies = liesOf(findings);
  const isFew = decided.length * 2 <= findings.length;
  const modes = isFew || lies.length > 0 ? [] : agreeing;
  const [only, ...others] = modes;
  const notes = [
    ...undecidedNotes(findings),
    ...(agreeing.length === 0 || decided.length === 0 ? [contradiction(decided)] : []),
    ...(isFew && decided.length > 0
      ? [`only ${decided.length} of ${findings.length} trials could be decided`]
      : []),
    ...lies,
    ...(modes.length === 0 ? wordsOfDriver(findings) : []),
    ...(others.length === 0 ? [] : [apart(modes)]),
    ...lost.map(
      ({ name, lostAcks }) =>
        `${name}: ${lostAcks} writes were acknowledged, and the next pod did not find them on the disk`,
    ),
  ];
  const isOne = others.length === 0 && lost.length === 0;
  return {
    ...{ mode: isOne ? only : undefined, modes, notes },
    counts: countsOf(findings),
    next: tally(findings.map(({ next }) => next.was).filter((was) => was !== 'not-tried')),
    figures: figuresOf(decided),
  };
}

function agrees({ variant, outcome, next }: TrialFinding, signature: Signature): boolean {
  if (variant === 'kept') return signature.kept.includes(outcome);
  if (variant === 'idle') return signature.idle.includes(outcome);
  return signature.contested[next.was]?.includes(outcome) === true;
}

function shows(decided: readonly TrialFinding[], { shows: outcome }: Signature): boolean {
  const writing = decided.filter(({ variant }) => variant !== 'idle');
  return (
    outcome === undefined ||
    writing.length === 0 ||
    writing.some((each) => each.outcome === outcome)
  );
}

/**
 * What no mode does, a sentence each. A volume that nobody uses any more can be had elsewhere; and none
 * can be had elsewhere whose detach the driver still refuses.
 */
function liesOf(findings: readonly TrialFinding[]): string[] {
  const tried = findings.flatMap(({ handOver }) => handOver ?? []);
  const failed = tried.flatMap((each) => (each === 'done' ? [] : each.failed));
  const twice = findings.filter(({ besideMs = 0 }) => isBeside(besideMs));
  const no = 'no known mode does this:';
  return [
    ...(failed.length > 0 && failed.length === tried.length
      ? [
          `${no} with the writer gone, none of ${failed.length} volumes could be had on the other node; ${failed[0]}`,
        ]
      : []),
    ...(twice.length > 0
      ? [
          `${no} the other node was given ${twice.length} volumes whose detach from the first one had not ended`,
        ]
      : []),
  ];
}

/** What it said of its detaches, once each. */
const wordsOfDriver = (findings: readonly TrialFinding[]): string[] =>
  [...new Set(findings.flatMap(({ detachError }) => detachError ?? []))]
    .slice(0, 3)
    .map((words) => `the driver said of a detach: ${words}`);

const undecidedNotes = (findings: readonly TrialFinding[]): string[] =>
  findings
    .filter(({ outcome }) => outcome === 'undecided')
    .map(({ name, why }) => `${name} is undecided: ${why}`);

function contradiction(decided: readonly TrialFinding[]): string {
  if (decided.length === 0) return 'no trial could be decided';
  const seen = [
    ...new Set(
      decided.map(({ variant, outcome, next }) =>
        variant === 'contested'
          ? `${variant}: ${outcome}, next pod ${next.was}`
          : `${variant}: ${outcome}`,
      ),
    ),
  ];
  return `no known mode does all of this: ${seen.join('; ')}`;
}

function apart(modes: readonly DiskMode[]): string {
  const both = modes.join(' or ');
  const isTaint = modes.every((mode) => mode === 'unfenced' || mode === 'fence-if-out-of-service');
  return isTaint
    ? `${both}: on a healthy node without a taint they are alike; only a node that is marked out of service tells`
    : `${both}: they differ by what becomes of a next pod, and none had the volume in these trials; make more of them`;
}

const countsOf = (findings: readonly TrialFinding[]): MeasuredClass['counts'] =>
  Object.fromEntries(
    detachVariants.map((variant) => [
      variant,
      tally(findings.filter((each) => each.variant === variant).map(({ outcome }) => outcome)),
    ]),
  ) as MeasuredClass['counts'];

export const tally = <T extends string>(words: readonly T[]): Partial<Record<T, number>> =>
  Object.fromEntries(
    [...Map.groupBy(words, (word) => word)].map(([word, each]) => [word, each.length]),
  ) as Partial<Record<T, number>>;

function figuresOf(decided: readonly TrialFinding[]): Figure[] {
  const writing = decided.filter(({ variant }) => variant !== 'idle');
  const of = (what: string, value: (finding: TrialFinding) => number | undefined): Figure[] => {
    const values = writing.flatMap((finding) => value(finding) ?? []);
    return values.length === 0 ? [] : [figure(what, values)];
  };
  return [
    ...of('delete to the end of the attachment', ({ answerMs }) => answerMs),
    ...of(
      'delete to the last acknowledged write of a writer that is cut off',
      ({ lastAckMs }) => lastAckMs,
    ),
    ...of('delete to its first error', ({ firstErrorMs }) => firstErrorMs),
    ...of('answer to the last acknowledged write', ({ outcome, tailMs }) =>
      outcome === 'cut' ? undefined : tailMs,
    ),
    ...of(
      'the same of a writer that was cut off before it, at most',
      ({ outcome, tailAtMostMs }) => (outcome === 'cut' ? tailAtMostMs : undefined),
    ),
    ...of('delete to the next attachment of the same node', ({ reattachedMs }) => reattachedMs),
    ...of('delete to the next pod running', ({ next }) => next.afterMs),
  ];
}

/** Nearest rank: a value that was measured. */
export function figure(what: string, values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (share: number): number =>
    sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return {
    ...{ what, n: sorted.length, leastMs: rank(0), p50Ms: rank(0.5), p90Ms: rank(0.9) },
    mostMs: rank(1),
  };
}
