/** Crash states as lines for a terminal. */
import type { Database } from '../ports/database.ts';
import type { PowerLoss, Scenario } from '../../scenario/index.ts';
import type { VerdictWord } from '../../judge/index.ts';
import type { StateResult } from './explore.ts';
import { draws, type CrashStatePlan } from './plan-states.ts';
import type { PolicySummary, Summary } from './summary.ts';

/** Lines of what a finding rests on: a person needs the server's own words, and not only how much. */
const evidenceLines = 2;
const evidenceLength = 200;

/** One line, and some more for each finding. */
export function describeState(result: StateResult): string {
  const { number, atMs, policy, verdict, acked, lost, unflushed, survived, findings } = result;
  const kept = `${survived} of ${unflushed} unflushed writes kept`;
  const head =
    `state ${number} (${policy} at ${seconds(atMs)}, ${kept}): ${verdict}, ` +
    `${lost} of ${acked} commits lost`;
  const why = findings.filter(({ level }) => level !== 'note');
  const lines = why.flatMap(({ code, summary, evidence }) => [
    `    ${code}: ${summary}`,
    ...evidence.slice(0, evidenceLines).map((line) => `      ${line.slice(0, evidenceLength)}`),
  ]);
  return [head, ...lines].join('\n');
}

export interface Described extends Summary {
  readonly moments: CrashStatePlan['moments'];
  readonly durationS: number;
  readonly expected: readonly VerdictWord[];
  readonly asExpected: boolean;
  readonly rebuildWorst?: string;
  readonly states: readonly StateResult[];
}

export function describeSummary(described: Described): string {
  const { states, moments, durationS, policies, worst, rebuildWorst } = described;
  const thorough = states.filter((each) => each.thorough).length;
  const lines = [
    `${states.length} crash states in ${durationS} s, ${thorough} of them with CHECK TABLE and fsck`,
    ...draws.map((drawn) => {
      const count = states.filter((state) => state.drawn === drawn).length;
      return `${count} of the ${moments[drawn]} moments ${drawnFrom[drawn]}`;
    }),
    '',
    row(columns),
    ...policies.map(policyRow),
    '',
  ];
  if (worst !== undefined) lines.push(`worst: ${describeState(worst)}`);
  if (rebuildWorst !== undefined) lines.push(`rebuild it: ${rebuildWorst}`, '');
  return [...lines, verdictSentence(described)].join('\n');
}

function verdictSentence({ verdict, asExpected, expected, states }: Described): string {
  const damaged = states.filter((each) => each.verdict === 'lost' || each.verdict === 'corrupt');
  const expectation = asExpected ? 'as expected' : `expected ${expected.join(' or ')}`;
  const what =
    verdict === 'inconclusive'
      ? 'not every state could be read'
      : `${damaged.length} of ${states.length} crash states lost what was acknowledged`;
  return `${verdict.toUpperCase()} (${expectation}) — ${what}`;
}

function policyRow(summary: PolicySummary): string {
  const { policy, states, withUnflushed, lost, corrupt, notStarted } = summary;
  const { inconclusive, shareBelow } = summary;
  const bound = shareBelow === undefined ? '–' : `${(shareBelow * 100).toFixed(1)} %`;
  return row([policy, states, withUnflushed, lost, corrupt, notStarted, inconclusive, bound]);
}

const drawnFrom = {
  anywhere: 'since the first acknowledged commit',
  'at-flush': 'right before or after a flush',
  'much-unflushed': 'with at least 8 writes unflushed',
} as const;

const columns = [
  ...['policy', 'states', 'unflushed', 'lost', 'corrupt'],
  ...['not started', 'unreadable', 'at most'],
];

const row = (cells: readonly (string | number)[]): string =>
  cells
    .map((cell, index) => (index === 0 ? `${cell}`.padEnd(10) : `${cell}`.padStart(12)))
    .join('');

const seconds = (ms: number): string => `${(ms / 1000).toFixed(3)} s`;

type Promises = Pick<Scenario, 'trxCommit' | 'flushes'>;

/** Verdicts of all states together that are no surprise. */
export function expectedAfterPowerLoss(
  { durability }: Database,
  { flushes, ...choice }: Promises,
  policies: readonly PowerLoss[],
): VerdictWord[] {
  if (flushes === 'ignored') return ['lost', 'corrupt'];
  const promised: VerdictWord = durability.keepsAll(choice) ? 'safe' : 'lost';
  // A page may be torn while its copy is lost with the cache: docs/explanation/crash-states.md.
  return policies.includes('tears') ? [promised, 'corrupt'] : [promised];
}

/** Also each policy by itself shows nothing but what it may; by luck it may show no damage. */
export function isExpected(
  database: Database,
  promises: Promises,
  { verdict, policies }: Summary,
): boolean {
  const expected = (of: readonly PowerLoss[], word: VerdictWord): boolean =>
    expectedAfterPowerLoss(database, promises, of).includes(word);
  return (
    expected(
      policies.map(({ policy }) => policy),
      verdict,
    ) && policies.every((each) => each.verdict === 'safe' || expected([each.policy], each.verdict))
  );
}
