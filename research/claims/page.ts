/** What was measured of each claim, from which run and when; and claims.md, the page made from it. */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { lineSchema, linesOf, measuredBasis } from '../../lib/batch/index.ts';
import { writeOutput, markdownTable } from '../../lib/core/index.ts';
import { halves, type Half } from './halves.ts';
import { claims } from './list.ts';

export const claimsPagePath = fileURLToPath(
  new URL('../../docs/reference/claims.md', import.meta.url),
);

const head = `# Claims

What became of the 35 claims that this project began with? They come from five articles on attach, detach, Multi-Attach and double writes, written for Kubernetes 1.3 to 1.14. *Expected* is what the source of Kubernetes 1.34 makes one expect, which often refutes the claim. It has parts; a part is confirmed once the answer of a run shows it. An answer shows that something happens, not how often.

\`npx zx research/claims.mjs\` prints each claim's expectation and every answer with its source. With a number (\`npx zx research/claims.mjs 8\`) it runs the test of that claim on a cluster; \`--short\` shortens the timers. \`--run FOLDER\` reads the answers of finished runs. The [store of measurements](../../data/measurements.jsonl) has all answers.
`;

export function renderedPage(measured = linesOf(answerSchema)): string {
  const surprises = measured.filter(({ outcome }) => !outcome.asExpected).length;
  const rows = claims.map(({ number, title, statement, expected }) => {
    const answers = answersTo(number, measured);
    const fitting = answers.filter(({ outcome }) => outcome.asExpected).length;
    const parts = halves[number] ?? [];
    const ticked = parts.filter((part) => isTicked(part, answers)).length;
    const counts = [`${ticked} of ${parts.length}`, `${fitting} of ${answers.length}`];
    return [String(number), `**${title}**: ${statement}`, expected, ...counts];
  });
  const table = markdownTable(
    ['', 'Claim', 'Expected', 'Parts confirmed', 'Answers as expected'],
    rows,
  );
  const open = claims.flatMap(({ number }) => openParts(number, measured));
  const count = `${measured.length - surprises} of ${measured.length} answers were as expected.`;
  const unconfirmed = `## Parts without an answer\n\n${open.join('\n')}\n`;
  return [head, `${table}\n`, `${count}\n`, unconfirmed].join('\n');
}

export const writePage = (): void => writeOutput(claimsPagePath, renderedPage());

function openParts(number: number, measured: readonly AnswerLine[]): string[] {
  const answers = answersTo(number, measured);
  return (halves[number] ?? [])
    .filter((part) => !isTicked(part, answers))
    .map(([text, , why = 'not measured']) => `- ${number}, ${text}: ${why}`);
}

/** Lines that were noted before the program moved have its old path in their id. */
const [oldPath, newPath] = ['experiments/claims.mjs', 'research/claims.mjs'];

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
