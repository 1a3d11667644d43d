/** The made parts of museum/README.md and of the symptoms in docs/how-to/troubleshooting.md, from museum/NAME. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { RunLine } from '../../lib/batch/measurements.ts';
import { readYaml } from '../../lib/core/data-file.ts';
import { kubernetesDefault, kubernetesMinors, secondUs } from '../../lib/core/kubernetes.ts';
import { markdownTable } from '../../lib/core/numbers.ts';
import { combined } from '../../lib/scenario/index.ts';
import { parseScenario, type Scenario } from '../../lib/scenario/scenario.ts';
import { readSchedule, type ScheduleFile } from '../../lib/sweep/findings.ts';
import { judge } from '../../lib/sweep/judge.ts';
import { play } from '../../lib/sweep/play.ts';
import { noticeNames } from '../../lib/sim/sightings.ts';
import { measuredText } from './count-events.ts';
import { anchorOf, headingsOf, root } from './pages.ts';

export const path = 'museum/README.md';
export const symptomsPath = 'docs/how-to/troubleshooting.md';

const factsSchema = z.strictObject({
  /** The public report; `also` has others of the same. */
  report: z.url(),
  also: z.array(z.url()).default([]),
  year: z.int(),
  /** What the report says of its versions. */
  versions: z.string(),
  /** In our own words. */
  reported: z.string(),
  result: z.enum(['as reported', 'in part', 'different', 'not shown']),
  shows: z.string(),
  /** What of the report the scenario leaves out. */
  missing: z.string().optional(),
  /** The first minor on which it comes so; default: the first that the model plays. */
  since: z.enum(kubernetesMinors).default(kubernetesMinors[0] ?? ''),
  /** Seconds from the fault to the second mount, on the default minor; absent: there is none. */
  mount: z.tuple([z.number(), z.number()]).optional(),
  /** Decisions that let the second node in, by names of the model. */
  chain: z.array(z.enum(noticeNames)).default([]),
  /** What a person sees, and the page of docs/how-to that helps. */
  symptom: z.string(),
  step: z.string(),
});

export interface Entry extends z.output<typeof factsSchema> {
  readonly name: string;
  readonly schedule: ScheduleFile;
}

export const entries: readonly Entry[] = readdirSync(join(root, 'museum'), { withFileTypes: true })
  .filter((each) => each.isDirectory())
  .map(({ name }) => {
    const file = (base: string): string => join(root, 'museum', name, base);
    const kind = { kind: 'facts', schema: factsSchema, hint: path, example: file('facts.yaml') };
    const facts = readYaml(file('facts.yaml'), kind);
    return { ...facts, name, schedule: readSchedule(file('scenario.yaml')) };
  });

/** Throws UsageError where that minor has no such setting. */
export const scenarioOf = ({ schedule }: Entry, minor: string): Scenario =>
  parseScenario(
    combined({ name: 'museum', question: '?', expected: ['safe'] }, schedule.scenario, {
      kubernetes: { version: minor },
    }),
  );

/** How an entry comes out on a minor, by seed. */
export const playsOf = (entry: Entry, minor: string, seeds: number): readonly Play[] =>
  Array.from({ length: seeds }, (_, n) => {
    const outcome = play(scenarioOf(entry, minor), `museum/${n}`);
    const { safety, licence } = judge(outcome);
    const { secondMountUs } = outcome;
    const mountS = secondMountUs === undefined ? undefined : secondMountUs / secondUs;
    return { safety, chain: licence, mountS };
  });

interface Play {
  readonly safety: string;
  readonly chain: readonly string[];
  readonly mountS: number | undefined;
}

export const seeds = 20;

const labelOf = (url: string): string =>
  url.replace(/^https:\/\/github\.com\/[^/]+\/([^/]+)\/(?:issues|pull)\/(\d+)$/, '$1#$2');
const linkTo = (url: string): string => {
  const label = labelOf(url);
  return `[${label === url ? new URL(url).hostname : label}](${url})`;
};

function mountText(entry: Entry): string {
  const times = playsOf(entry, kubernetesDefault, seeds).flatMap(({ mountS = [] }) => mountS);
  if (times.length === 0) return 'none';
  return `${Math.floor(Math.min(...times))}–${Math.ceil(Math.max(...times))} s`;
}

const minorsText = ({ since }: Entry): string => `${since} to ${kubernetesMinors.at(-1)}`;
const wordsText = ({ schedule }: Entry): string => schedule.predicted.join(' or ');

/** The outcome of a scenario that is only near the report says nothing of the report. */
const indexRow = (entry: Entry, lines: readonly RunLine[]): string[] => [
  ...[`[${entry.name}](#${entry.name})`, `${linkTo(entry.report)}, ${entry.year}`, entry.result],
  ...(entry.result === 'not shown'
    ? ['–', '–', '–', '–']
    : [
        `**${wordsText(entry)}**`,
        mountText(entry),
        minorsText(entry),
        measuredText(scenarioOf(entry, kubernetesDefault), lines) || '–',
      ]),
];

const section = (entry: Entry): string =>
  [
    `### ${entry.name}`,
    '',
    `${entry.schedule.question} ([scenario](${entry.name}/scenario.yaml))`,
    '',
    `- **Reported** (${[entry.report, ...entry.also].map(linkTo).join(', ')}; ${entry.versions}): ${entry.reported}`,
    `- **Shown** (${entry.result === 'not shown' ? 'the nearest scenario' : entry.result}; ${wordsText(entry)}): ${entry.shows}`,
    ...(entry.missing === undefined ? [] : [`- **Could not be shown**: ${entry.missing}.`]),
    '',
  ].join('\n');

const countText = (result: Entry['result']): string =>
  `${entries.filter((each) => each.result === result).length} ${result}`;

/** The made parts of museum/README.md. */
export const museumParts = (lines: readonly RunLine[]): Readonly<Record<string, string>> => ({
  counts: `${entries.length} reports: ${(['as reported', 'in part', 'different', 'not shown'] as const).map(countText).join(', ')}.`,
  index: `\n\n${markdownTable(
    [
      ...['Entry', 'Report', 'Against the report', 'Verdict'],
      ...['Second mount', 'Kubernetes', 'Measured'],
    ],
    entries.map((entry) => indexRow(entry, lines)),
  )}\n`,
  entries: `\n\n${entries.map(section).join('\n')}\n`,
});

function stepText(step: string): string {
  const [page = '', anchor] = step.split('#');
  const [title = '', ...others] = headingsOf(`docs/how-to/${page}`);
  const heading = others.find((each) => anchorOf(each) === anchor) ?? title;
  return `[${heading.replace(/^\d+\. /, '')}](${step})`;
}

/** The made part of the page of trouble. */
export const symptomTable = (): string =>
  `\n\n${markdownTable(
    ['You see', 'Do'],
    entries
      .toSorted((a, b) => (a.step + a.symptom < b.step + b.symptom ? -1 : 1))
      .map(({ name, symptom, step }) => [
        `${symptom} ([report](../../museum/README.md#${name}))`,
        stepText(step),
      ]),
  )}\n`;
