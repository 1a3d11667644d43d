/** What was measured of each claim, from which run and when; and claims.md, the page made from it. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { lineSchema, linesOf, measuredBasis } from '../../lib/measurements/store.ts';
import { writeOutput } from '../../lib/output-file.ts';
import { halves, type Half } from './halves.ts';
import { claims } from './list.ts';
import type { Claim } from './claim.ts';

export const claimsPagePath = fileURLToPath(
  new URL('../../docs/reference/claims.md', import.meta.url),
);

const head = `# Claims

What became of the 35 claims that this project began with? It began with five articles on attach, detach, Multi-Attach and double writes, written for Kubernetes 1.3 to 1.14. Here is each of their claims, what the source of Kubernetes 1.34 makes one expect, and what was measured. \`npx zx research/claims.mjs 8\` asks number 8 of a cluster; add \`--short\` for shortened timers. \`npx zx research/claims.mjs --run FOLDER\` asks all of them of a finished run.

**measured** means stock timers on kind; **shortened** means other timers, or a small procedure on a cluster with such timers. Each answer is one run's: it shows that a thing happens, not how often. The records that prove it are in the [store of measurements](../../data/measurements.jsonl), from which this page is made. A run without a link has left the tree: \`npx node scripts/restore.ts reports/samples/partition-none\` restores it.
`;

export function renderedPage(measured = linesOf(answerSchema)): string {
  const asked = new Set(measured.map(({ scenario }) => scenario.claim)).size;
  const surprises = measured.filter(({ outcome }) => !outcome.asExpected).length;
  const parts = claims.flatMap(({ number }) => halvesOf(number, measured));
  const ticked = parts.filter((line) => line.startsWith('  - [x]')).length;
  const count =
    `${asked} of ${claims.length} have an answer; ${surprises} of ${measured.length} ` +
    `answers were not expected. A claim has parts: ${ticked} of ${parts.length} are ticked by an ` +
    'answer, and each of the others says why it is not.\n';
  const sections = claims.map((claim) => section(claim, answersTo(claim.number, measured)));
  return [head, count, ...sections].join('\n');
}

export const writePage = (): void => writeOutput(claimsPagePath, renderedPage());

function section(
  { number, title, statement, expected }: Claim,
  measured: readonly AnswerLine[],
): string {
  const answers = measured.map(
    ({ outcome: { asExpected, said }, basis, date, versions, source }) =>
      `- Measured${asExpected ? '' : ', **not expected**'}: ${said} (${basis}, ` +
      `Kubernetes ${versions.kubernetes}, ${date.slice(0, 10)}; ${sourceText(source)})`,
  );
  return [
    `## ${number}. ${title}`,
    '',
    `- Claim: ${statement}`,
    `- Expected: ${expected}`,
    '- Part by part:',
    ...halvesOf(number, measured),
    `- Command: \`npx zx research/claims.mjs ${number}\``,
    ...(answers.length === 0 ? ['- Measured: not run yet'] : answers),
    '',
  ].join('\n');
}

function halvesOf(number: number, measured: readonly AnswerLine[]): string[] {
  const answers = answersTo(number, measured);
  return (halves[number] ?? []).map((half) => {
    const [text, , open = 'no answer tells it'] = half;
    return isTicked(half, answers) ? `  - [x] ${text}` : `  - [ ] ${text}: ${open}`;
  });
}

/** Lines that were noted before the program moved have its old path in `source`, and in `id`. */
const [oldPath, newPath] = ['experiments/claims.mjs', 'research/claims.mjs'];

/** A sample is a link; other runs have left the tree. */
const sourceText = (source: string): string => {
  if (!source.startsWith('reports/')) return `\`${source.replace(oldPath, newPath)}\``;
  const isHeld = existsSync(new URL(`../../${source}/summary.md`, import.meta.url));
  return isHeld ? `[${source}](../../${source}/summary.md)` : `\`${source}\``;
};

/** Answers in the store of measurements: what one run, or one procedure, says of one claim. */
export const answerSchema = lineSchema.extend({
  kind: z.literal('claim'),
  scenario: z.strictObject({ claim: z.number().int() }),
  outcome: z.strictObject({
    asExpected: z.boolean(),
    said: z.string(),
    evidence: z.array(z.string()).readonly(),
  }),
  basis: measuredBasis,
  versions: z.object({ kubernetes: z.string() }).catchall(z.string()),
  date: z.string(),
});
export type AnswerLine = Readonly<z.output<typeof answerSchema>>;

/** By claim; a newer answer from the same source takes the place of the older one. */
export const answerId = (claim: number, source: string): string =>
  `${claim} ${source.replace(newPath, oldPath)}`;

export const answersTo = (number: number, all: readonly AnswerLine[]): AnswerLine[] =>
  all.filter(({ scenario }) => scenario.claim === number);

export const isTicked = ([, told]: Half, answers: readonly AnswerLine[]): boolean =>
  told !== undefined &&
  answers.some(({ outcome }) => outcome.asExpected && told.test(outcome.said));
