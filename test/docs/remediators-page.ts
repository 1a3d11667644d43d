/** The made table of docs/reference/remediators.md, from data/remediators.yaml, the model and the store. */
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
import { play } from '../../lib/sweep/play.ts';
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
  /** Most seconds in which two nodes could write. */
  readonly bothS: number;
}

export function predicted(remediator: Remediator, fault: Fate): Came {
  const outcomes = Array.from({ length: seeds }, (_, n) =>
    play(scenarioOf(remediator, fault), `remediator/${n}`),
  );
  return {
    words: [...new Set(outcomes.map((each) => judge(each).safety))].toSorted(),
    mountsS: outcomes.flatMap(({ secondMountUs: us }) => (us === undefined ? [] : [us / secondUs])),
    bothS: Math.max(...outcomes.map(({ overlapUs }) => overlapUs)) / secondUs,
  };
}

function cellText(remediator: Remediator, fault: Fate, lines: readonly RunLine[]): string {
  const { words, mountsS, bothS } = predicted(remediator, fault);
  const measured = measuredText(scenarioOf(remediator, fault), lines);
  return [
    `**${words.join(' or ')}**`,
    mountsS.length === 0
      ? 'nobody else mounts it'
      : `second mount ${Math.floor(Math.min(...mountsS))}–${Math.ceil(Math.max(...mountsS))} s`,
    ...(bothS === 0 ? [] : [`both could write for up to ${Math.ceil(bothS)} s`]),
    ...(measured === '' ? [] : [`measured: ${measured}`]),
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

export const remediatorParts = (lines: readonly RunLine[]): Readonly<Record<string, string>> => ({
  outcomes: `\n\n${markdownTable(
    ['Remediator', 'Who confirms that the node is dead', ...fates.map((fault) => fateOf[fault])],
    remediators.map((each) => [
      each.name,
      each.asks,
      ...fates.map((fault) => cellText(each, fault, lines)),
    ]),
  )}\n`,
  orders: `\n\n${remediators.map(section).join('\n')}\n`,
});
