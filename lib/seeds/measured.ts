/** docs/reference/seeds.json: what was measured of each seed, from which run, and when. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { writeOutput } from '../output-file.ts';

/** The checkout's, wherever it is called from. */
export const measuredPath = fileURLToPath(
  new URL('../../docs/reference/seeds.json', import.meta.url),
);

const measuredSchema = z.object({
  seed: z.number().int(),
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
export type Measured = z.output<typeof measuredSchema>;

export const readMeasured = (path: string = measuredPath): readonly Measured[] =>
  z.array(measuredSchema).parse(JSON.parse(readFileSync(path, 'utf8')));

/** A newer answer from the same source takes the place of the older one. */
export function noteMeasured(answers: readonly Measured[], path: string = measuredPath): void {
  const key = ({ seed, from }: Measured): string => `${seed} ${from}`;
  const all = new Map(readMeasured(path).map((each) => [key(each), each]));
  for (const each of answers) all.set(key(each), each);
  const ordered = [...all.values()].toSorted(
    (a, b) => a.seed - b.seed || a.from.localeCompare(b.from, 'en'),
  );
  writeOutput(path, `${JSON.stringify(ordered, undefined, 2)}\n`);
}
