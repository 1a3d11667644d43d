/** docs/reference/claims.json, what was measured of each claim, from which run and when; and claims.md, the page made from it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { writeOutput } from '../output-file.ts';
import { halves, isTicked } from './halves.ts';
import { claims } from './list.ts';
import type { Claim } from './claim.ts';

export const claimsPagePath = fileURLToPath(
  new URL('../../docs/reference/claims.md', import.meta.url),
);

const head = `# Claims

What became of the 35 claims that this project began with? It began with five articles on attach, detach, Multi-Attach and double writes, written for Kubernetes 1.3 to 1.14. Here is each of their claims, what the source of Kubernetes 1.34 makes one expect, and what was measured. \`npx zx experiments/claims.mjs 8\` asks number 8 of a cluster; add \`--short\` for shortened timers. \`npx zx experiments/claims.mjs --run FOLDER\` asks all of them of a finished run.

**measured** means stock timers on kind; **shortened** means other timers, or a small procedure on a cluster with such timers. Each answer is one run's: it shows that a thing happens, not how often. The records that prove it are in [claims.json](claims.json), from which this page is made.
`;

export function renderedPage(measured: readonly MeasuredAnswer[] = readMeasuredAnswers()): string {
  const asked = new Set(measured.map(({ claim }) => claim)).size;
  const surprises = measured.filter(({ asExpected }) => !asExpected).length;
  const parts = claims.flatMap(({ number }) => halvesOf(number, measured));
  const ticked = parts.filter((line) => line.startsWith('  - [x]')).length;
  const count =
    `${asked} of ${claims.length} have an answer; ${surprises} of ${measured.length} ` +
    `answers were not expected. A claim has parts: ${ticked} of ${parts.length} are ticked by an ` +
    'answer, and each of the others says why it is not.\n';
  const sections = claims.map((claim) =>
    section(
      claim,
      measured.filter((each) => each.claim === claim.number),
    ),
  );
  return [head, count, ...sections].join('\n');
}

export const writePage = (): void => writeOutput(claimsPagePath, renderedPage());

function section(
  { number, title, statement, expected }: Claim,
  measured: readonly MeasuredAnswer[],
): string {
  const answers = measured.map(
    ({ asExpected, said, basis, date, kubernetes, from }) =>
      `- Measured${asExpected ? '' : ', **not expected**'}: ${said} (${basis}, ` +
      `Kubernetes ${kubernetes}, ${date}; ${sourceOf(from)})`,
  );
  return [
    `## ${number}. ${title}`,
    '',
    `- Claim: ${statement}`,
    `- Expected: ${expected}`,
    '- Part by part:',
    ...halvesOf(number, measured),
    `- Command: \`npx zx experiments/claims.mjs ${number}\``,
    ...(answers.length === 0 ? ['- Measured: not run yet'] : answers),
    '',
  ].join('\n');
}

function halvesOf(number: number, measured: readonly MeasuredAnswer[]): string[] {
  const answers = measured.filter(({ claim }) => claim === number);
  return (halves[number] ?? []).map((half) => {
    const [text, , open = 'no answer tells it'] = half;
    return isTicked(half, answers) ? `  - [x] ${text}` : `  - [ ] ${text}: ${open}`;
  });
}

/** Names the source: of a batch's runs git holds no summary. */
const sourceOf = (from: string): string => {
  if (!from.startsWith('reports/')) return `\`${from}\``;
  const page = from.startsWith('reports/samples/') ? 'summary.md' : 'verdict.json';
  return `[${from}](../../${from}/${page})`;
};

/** The checkout's, wherever it is called from. */
const measuredPath = fileURLToPath(new URL('../../docs/reference/claims.json', import.meta.url));

const measuredSchema = z.object({
  claim: z.number().int(),
  /** Folder of the repository that holds the history, or the command that made it. */
  from: z.string(),
  /** YYYY-MM-DD. */
  date: z.string(),
  /** `measured`: stock timers on kind; `shortened`: other timers; `predicted`: by the model. */
  basis: z.enum(['measured', 'shortened', 'predicted']),
  kubernetes: z.string(),
  asExpected: z.boolean(),
  said: z.string(),
  evidence: z.array(z.string()).readonly(),
});
export type MeasuredAnswer = z.output<typeof measuredSchema>;

export const readMeasuredAnswers = (path: string = measuredPath): readonly MeasuredAnswer[] =>
  z.array(measuredSchema).parse(JSON.parse(readFileSync(path, 'utf8')));

/** A newer answer from the same source takes the place of the older one. */
export function noteMeasured(
  answers: readonly MeasuredAnswer[],
  path: string = measuredPath,
): void {
  const key = ({ claim, from }: MeasuredAnswer): string => `${claim} ${from}`;
  const all = new Map(readMeasuredAnswers(path).map((each) => [key(each), each]));
  for (const each of answers) all.set(key(each), each);
  const ordered = [...all.values()].toSorted(
    (a, b) => a.claim - b.claim || a.from.localeCompare(b.from, 'en'),
  );
  writeOutput(path, `${JSON.stringify(ordered, undefined, 2)}\n`);
}
