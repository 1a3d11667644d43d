/**
 * From the records of all trials to what the class does: the modes that agree with all of them, and
 * figures. Pure. One mode where one agrees; several where trials of this kind can't tell them apart.
 */
import type { DiskMode } from '../../scenario/index.ts';
import { type Reason, because } from '../../judge/index.ts';
import { type DetachOutcome, type DetachRecord, type TrialFinding, classify } from './detach.ts';
import type { Planned } from './facts.ts';
import { measureForced } from './forced.ts';
import { type NextFinding, type Times, figuresOf, noMode, tally } from './heard.ts';
import type { TrialRecord } from './record.ts';
import { type DetachVariant, detachVariants } from '../plan.ts';

export type MeasuredClass = ReturnType<typeof measure>;
export type JudgedTrials = ReturnType<typeof judgeTrials>;

export function judgeTrials(records: readonly TrialRecord[], plan: Planned) {
  const findings = records.filter(isOfDetach).map((record) => classify(record, plan));
  const forced = records.filter((record) => !isOfDetach(record));
  return {
    ...{ findings, answer: measure(findings) },
    /** Where pods were deleted by force: no part of the answer. */
    ...(forced.length > 0 && { forceDeleted: measureForced(forced, plan) }),
  };
}

const isOfDetach = (record: TrialRecord): record is DetachRecord =>
  record.variant !== 'force-deleted';

interface Signature {
  readonly kept: readonly DetachOutcome[];
  /** A cut that comes while it is quiet is seen after that time only. */
  readonly idle: readonly DetachOutcome[];
  /** What may become of the next pod, and of the writer then. */
  readonly contested: Readonly<Partial<Record<NextFinding['was'], readonly DetachOutcome[]>>>;
  /** Outcome of at least one trial in which the writer writes: the others can be too coarse to show it. */
  readonly shows?: DetachOutcome;
}

/** The same outcomes in each trial, and what may become of the next pod then. */
const always = (
  outcomes: readonly DetachOutcome[],
  ...was: NextFinding['was'][]
): Omit<Signature, 'shows'> => ({
  ...{ kept: outcomes, idle: outcomes },
  contested: Object.fromEntries(was.map((each) => [each, outcomes])),
});

/** What each mode shows on a healthy node without a taint; lib/scenario/disks has what each does. */
const signatures: Readonly<Partial<Record<DiskMode, Signature>>> = {
  unfenced: always(['not-cut'], 'in', 'barred'),
  'fence-if-out-of-service': always(['not-cut'], 'in', 'barred'),
  exclusive: always(['not-cut'], 'refused', 'barred'),
  reservation: {
    ...always(['not-cut'], 'barred'),
    contested: { in: ['cut-by-next'], barred: ['not-cut'] },
  },
  fenced: always(['cut'], 'in', 'barred'),
  // A cut that comes between two looks at the attachment may have come before its end.
  'ack-early': { ...always(['late-cut', 'cut'], 'in', 'barred'), shows: 'late-cut' },
  'pending-while-busy': always(['pending'], 'barred', 'not-attached', 'waited'),
};

export function measure(findings: readonly TrialFinding[]) {
  const decided = findings.filter(({ outcome }) => outcome !== 'undecided');
  const lost = findings.filter(({ lostAcks = 0 }) => lostAcks > 0);
  const agreeing = (Object.keys(signatures) as DiskMode[]).filter((mode) => {
    const signature = signatures[mode];
    return signature !== undefined && agree(decided, signature);
  });
  const lies = liesOf(findings);
  const isFew = decided.length * 2 <= findings.length;
  const modes = isFew || lies.length > 0 ? [] : agreeing;
  const [only, ...others] = modes;
  const reasons = [
    ...findings
      .filter(({ outcome }) => outcome === 'undecided')
      .map(({ name, why }) => because('UNDECIDED', `${name} is undecided: ${why}`, { name })),
    ...(agreeing.length === 0 || decided.length === 0 ? [disagreement(decided)] : []),
    ...(isFew && decided.length > 0
      ? [
          because(
            'FEW_DECIDED',
            `only ${decided.length} of ${findings.length} trials could be decided`,
          ),
        ]
      : []),
    ...lies,
    ...(modes.length === 0 ? wordsOfDriver(findings) : []),
    ...(others.length === 0 ? [] : [apart(modes)]),
    ...lost.map(({ name, lostAcks = 0 }) =>
      because(
        'WRITES_LOST',
        `${name}: ${lostAcks} writes were acknowledged, and the next pod did not find them on the disk`,
        { name, lostAcks },
      ),
    ),
  ];
  const isOne = others.length === 0 && lost.length === 0;
  return {
    /** Undefined: undecided. */
    mode: isOne ? only : undefined,
    /** All that agree with every trial that could be decided. */
    modes: modes as readonly DiskMode[],
    /** Why it is undecided, or what else is to be said; a sentence each. */
    notes: reasons.map(({ words }) => words),
    reasons,
    counts: Object.fromEntries(
      detachVariants.map((variant) => {
        const same = findings.filter((each) => each.variant === variant);
        return [variant, tally(same.map(({ outcome }) => outcome))];
      }),
    ) as Record<DetachVariant, Partial<Record<DetachOutcome, number>>>,
    next: tally(findings.map(({ next }) => next.was).filter((was) => was !== 'not-tried')),
    figures: figuresOf(
      decided.filter(({ variant }) => variant !== 'idle'),
      times,
    ),
  };
}

function agree(decided: readonly TrialFinding[], { shows, ...signature }: Signature): boolean {
  const writing = decided.filter(({ variant }) => variant !== 'idle');
  const isShown = writing.length === 0 || writing.some(({ outcome }) => outcome === shows);
  return (
    (shows === undefined || isShown) &&
    decided.every(({ variant, outcome, next }) => {
      const of = variant === 'contested' ? signature.contested[next.was] : signature[variant];
      return of?.includes(outcome) === true;
    })
  );
}

/**
 * What no mode does. A volume that nobody uses any more can be had elsewhere; and none can be had elsewhere
 * whose detach the driver still refuses.
 */
function liesOf(findings: readonly TrialFinding[]): Reason[] {
  const tried = findings.flatMap(({ handOver }) => handOver ?? []);
  const failed = tried.flatMap((each) => (each === 'done' ? [] : each.failed));
  const twice = findings.filter(({ ofDriver }) => ofDriver.length > 0).length;
  const isKept = failed.length > 0 && failed.length === tried.length;
  const kept = `with the writer gone, none of ${failed.length} volumes could be had on the other node; ${failed[0]}`;
  const given = `the other node was given ${twice} volumes whose detach from the first one had not ended`;
  return [
    ...(isKept ? [noMode(kept, { volumes: failed.length })] : []),
    ...(twice > 0 ? [noMode(given, { volumes: twice })] : []),
  ];
}

const wordsOfDriver = (findings: readonly TrialFinding[]): Reason[] =>
  [...new Set(findings.flatMap(({ detachError }) => detachError ?? []))]
    .slice(0, 3)
    .map((error) => because('DRIVER_ERROR', `the driver said of a detach: ${error}`, { error }));

function disagreement(decided: readonly TrialFinding[]): Reason {
  if (decided.length === 0) return because('NONE_DECIDED', 'no trial could be decided');
  const seen = decided.map(({ variant, outcome, next }) => {
    const then = variant === 'contested' ? `, next pod ${next.was}` : '';
    return `${variant}: ${outcome}${then}`;
  });
  const all = [...new Set(seen)].join('; ');
  return because('NO_KNOWN_MODE', `no known mode does all of this: ${all}`);
}

function apart(modes: readonly DiskMode[]): Reason {
  const both = modes.join(' or ');
  const isTaint = modes.every((mode) => mode === 'unfenced' || mode === 'fence-if-out-of-service');
  const why = isTaint
    ? 'on a healthy node without a taint they are alike; only a node that is marked out of service tells'
    : 'they differ by what becomes of a next pod, and none had the volume in these trials; make more of them';
  return because('MODES_ALIKE', `${both}: ${why}`, { modes: modes.join(',') });
}

const times: Times<TrialFinding> = {
  'delete to the end of the attachment': ({ answerMs }) => answerMs,
  'delete to the last acknowledged write of a writer that is cut off': ({ lastAckMs }) => lastAckMs,
  'delete to its first error': ({ firstErrorMs }) => firstErrorMs,
  'answer to the last acknowledged write': ({ outcome, tailMs }) =>
    outcome === 'cut' ? undefined : tailMs,
  'the same of a writer that was cut off before it, at most': ({ outcome, tailAtMostMs }) =>
    outcome === 'cut' ? tailAtMostMs : undefined,
  'delete to the next attachment of the same node': ({ reattachedMs }) => reattachedMs,
  'delete to the next pod running': ({ next }) => next.afterMs,
};

export const answerWord = ({ mode, modes }: Pick<MeasuredClass, 'mode' | 'modes'>): string =>
  mode ?? (modes.length > 0 ? modes.join(' or ') : 'undecided');

export interface HeldAnswer {
  readonly is: 'expected' | 'other' | 'undecided';
  readonly text: string;
}

/** An answer held against the modes that its caller expects. */
export function holdAnswer(
  answer: Pick<MeasuredClass, 'mode' | 'modes'>,
  expected: readonly DiskMode[],
): HeldAnswer {
  const { mode, modes } = answer;
  const [wanted, word] = [expected.join(' or '), answerWord(answer)];
  const fitting = modes.filter((each) => expected.includes(each));
  if (modes.length === 0) {
    return { is: 'undecided', text: `expected ${wanted}; the trials are undecided` };
  }
  // One mode agrees, and yet acknowledged writes are lost: that is no kind of disk.
  if (fitting.length === 0 || (modes.length === 1 && mode === undefined)) {
    const lost = fitting.length === 0 ? '' : ', but acknowledged writes are not on the disk';
    return { is: 'other', text: `expected ${wanted}; the answer is ${word}${lost}` };
  }
  if (fitting.length === modes.length) return { is: 'expected', text: `as expected: ${word}` };
  return {
    is: 'undecided',
    text: `expected ${wanted}; the trials can't tell it from the rest of ${word}. To accept each: --expect ${modes.join(',')}`,
  };
}
