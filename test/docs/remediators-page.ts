/**
 * What remediators do, from data/remediators.yaml: the model's part in docs/reference/remediators.md, what was
 * measured in docs/results/departures.md.
 */
import { join } from 'node:path';
import { z } from 'zod';
import type { RunLine } from '../../lib/batch/measurements.ts';
import { readYaml } from '../../lib/core/data-file.ts';
import { secondUs } from '../../lib/core/kubernetes.ts';
import { markdownTable } from '../../lib/core/numbers.ts';
import { combined, type FaultKind } from '../../lib/scenario/index.ts';
import { parseScenario, type Scenario } from '../../lib/scenario/scenario.ts';
import { settingsSchema } from '../../lib/scenario/written.ts';
import { judge } from '../../lib/sweep/judge.ts';
import { play, type ScheduleOutcome } from '../../lib/sweep/play.ts';
import { measuredText } from './count-events.ts';
import { root } from './pages.ts';

export const path = 'docs/reference/remediators.md';

/** What may have become of the node that it takes for lost. */
const fateOf = {
  'node-crash': 'dead',
  'network-partition': 'cut off',
  freeze: 'stands still, thawed after the hand-over',
  'shutdown-hang': 'hangs in its shutdown',
} as const satisfies Partial<Record<FaultKind, string>>;
type Fate = keyof typeof fateOf;
export const fates = Object.keys(fateOf) as Fate[];
const livingFates = fates.filter((fault) => fault !== 'node-crash');

const remediatorSchema = z.strictObject({
  name: z.string(),
  sources: z.array(z.string().regex(/^[^/]+\/[^/]+\/(HEAD|[0-9a-f]{7,40})\/\S+$/)),
  order: z.string(),
  asks: z.string(),
  plays: settingsSchema,
  but: z.partialRecord(z.enum(fates), settingsSchema).default({}),
  differs: z.string().optional(),
});
type Remediator = z.output<typeof remediatorSchema>;

export const remediators = readYaml(join(root, 'data/remediators.yaml'), {
  kind: 'remediators',
  schema: z.array(remediatorSchema),
  hint: 'the head of the file says what each field means',
  example: 'data/remediators.yaml',
});

const scenarioOf = ({ plays, but }: Remediator, fault: Fate): Scenario =>
  parseScenario(
    combined(
      { name: 'remediator', question: '?', expected: ['safe'], fault: { kind: fault } },
      but[fault] ?? plays,
    ),
  );

const seeds = 20;

interface Came {
  readonly words: readonly string[];
  readonly mountsS: readonly number[];
  /** When it acts, and when the old node could write no more: as far as that came before the heal. */
  readonly actsS: readonly number[];
  readonly fencedS: readonly number[];
  /** Most seconds in which two nodes could write. */
  readonly bothS: number;
}

const came = new Map<string, Came>();

export function predicted(remediator: Remediator, fault: Fate): Came {
  const key = `${remediator.name} ${fault}`;
  const known = came.get(key) ?? playedSeeds(remediator, fault);
  came.set(key, known);
  return known;
}

function playedSeeds(remediator: Remediator, fault: Fate): Came {
  const outcomes = Array.from({ length: seeds }, (_, n) =>
    play(scenarioOf(remediator, fault), `remediator/${n}`),
  );
  const timesS = (of: (outcome: ScheduleOutcome) => number | undefined): readonly number[] =>
    outcomes.map(of).flatMap((us) => (us === undefined ? [] : [us / secondUs]));
  return {
    words: [...new Set(outcomes.map((each) => judge(each).safety))].toSorted(),
    mountsS: timesS(({ secondMountUs }) => secondMountUs),
    actsS: timesS(({ remediedUs }) => remediedUs),
    fencedS: timesS(({ fencedUs }) => fencedUs),
    bothS: Math.max(...outcomes.map(({ overlapUs }) => overlapUs)) / secondUs,
  };
}

const within = (timesS: readonly number[]): string => {
  const [least, most] = [Math.floor(Math.min(...timesS)), Math.ceil(Math.max(...timesS))];
  return most - least <= 1 ? `${most} s` : `${least}–${most} s`;
};

/** Of a node that lives: a fence that comes in some seeds only is none. */
function fenceText(remediator: Remediator, fault: Fate): string {
  const { actsS, fencedS } = predicted(remediator, fault);
  if (actsS.length === 0) return 'it does not act';
  return fencedS.length < seeds ? '**never**' : within(fencedS);
}

function cellText(remediator: Remediator, fault: Fate): string {
  const { words, mountsS, bothS } = predicted(remediator, fault);
  return [
    `**${words.join(' or ')}**`,
    mountsS.length === 0 ? 'nobody else mounts it' : `second mount ${within(mountsS)}`,
    ...(bothS === 0 ? [] : [`both could write for up to ${Math.ceil(bothS)} s`]),
  ].join('; ');
}

function linkTo(source: string): string {
  const [owner, repo, commit, ...rest] = source.split('/');
  const file = rest.join('/');
  const base = file.replace(/#.*/, '').split('/').at(-1);
  const where = `https://github.com/${owner}/${repo}/blob/${commit}/${file}`;
  return `[\`${base}\`](${where})${commit === 'HEAD' ? '' : ` at ${commit}`}`;
}

const section = ({ name, sources, order, differs }: Remediator): string =>
  [
    `- **${name}**: ${order}.`,
    ...(differs === undefined ? [] : [`Not played: ${differs}.`]),
    ...(sources.length === 0 ? [] : [`Source: ${sources.map(linkTo).join(', ')}.`]),
  ].join(' ');

/** Counted from the store. */
export const remediationTable = (lines: readonly RunLine[]): string =>
  `\n\n${markdownTable(
    ['Remediator', ...fates.map((fault) => fateOf[fault])],
    remediators.map((each) => [
      each.name,
      ...fates.map((fault) => measuredText(scenarioOf(each, fault), lines) || '–'),
    ]),
  )}\n`;

export const remediatorParts: Readonly<Record<string, string>> = {
  outcomes: `\n\n${markdownTable(
    ['Remediator', 'Who confirms that the node is dead', ...fates.map((fault) => fateOf[fault])],
    remediators.map((each) => [
      each.name,
      each.asks,
      ...fates.map((fault) => cellText(each, fault)),
    ]),
  )}\n`,
  fences: `\n\n${markdownTable(
    ['Remediator', 'Acts after', ...livingFates.map((fault) => `Fenced: ${fateOf[fault]}`)],
    remediators.map((each) => [
      each.name,
      within(predicted(each, 'node-crash').actsS),
      ...livingFates.map((fault) => fenceText(each, fault)),
    ]),
  )}\n`,
  orders: `\n\n${remediators.map(section).join('\n')}\n`,
};
