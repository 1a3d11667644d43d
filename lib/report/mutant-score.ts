/** docs/internals/mutants.json: what became of each kind of damage that was planted, and the score of it. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { database } from '../database/chosen.ts';
import { countInWords } from '../counts.ts';

const mutantRow = z.object({
  name: z.string(),
  /** What is done. */
  shows: z.string(),
  /** The clean twin that it is a copy of. */
  twin: z.string(),
  /** The class within which it must be named. */
  className: z.string(),
  /** How it was proven to be there. */
  effect: z.string(),
  proven: z.boolean(),
  caught: z.boolean(),
  named: z.boolean(),
  /** Codes of what was found, with blanks between. */
  codes: z.string(),
});
export type MutantRow = z.output<typeof mutantRow>;

/** Beside these, by the database's name, the version of the server that wrote the volumes. */
export const measuredSchema = z.looseObject({
  /** ISO date of the newest row. */
  measuredOn: z.string(),
  mutants: z.array(mutantRow),
  twins: z.array(z.object({ name: z.string(), flagged: z.boolean() })),
  /** The smallest silent loss that was planted, and seen; absent before that was measured. */
  smallestLoss: z.object({ lost: z.number().int(), of: z.number().int() }).optional(),
});
export type MeasuredMutants = z.output<typeof measuredSchema>;

export const measuredPath = new URL('../../docs/internals/mutants.json', import.meta.url);

export const readMeasuredMutants = (): MeasuredMutants =>
  measuredSchema.parse(JSON.parse(readFileSync(measuredPath, 'utf8')));

export interface Score {
  readonly kinds: number;
  /** Proven to be there, and found. */
  readonly caught: number;
  /** And called what they are. */
  readonly named: number;
  readonly twins: number;
  readonly flaggedTwins: number;
}

export function scoreOf({ mutants, twins }: MeasuredMutants): Score {
  const caught = mutants.filter((each) => each.proven && each.caught);
  return {
    kinds: mutants.length,
    caught: caught.length,
    named: caught.filter(({ named }) => named).length,
    twins: twins.length,
    flaggedTwins: twins.filter(({ flagged }) => flagged).length,
  };
}

/** One sentence for reports; without its date, so that only another score makes another page. */
export function scoreInWords(measured: MeasuredMutants = readMeasuredMutants()): string {
  const version = measured[database.name];
  if (typeof version !== 'string') {
    return `no damage was planted in volumes of ${database.title} yet: what its audit misses is not known`;
  }
  const { kinds, caught, named, twins, flaggedTwins } = scoreOf(measured);
  const { smallestLoss } = measured;
  const smallest =
    smallestLoss === undefined
      ? ''
      : `; smallest silent loss seen: ${countInWords(smallestLoss.lost)} of ${countInWords(smallestLoss.of)} commits`;
  return (
    `${kinds} kinds of damage planted in real volumes and histories: ${caught} caught, ${named}` +
    ` called by their name; ${flaggedTwins} of ${twins} clean twins flagged${smallest}` +
    ` (${database.title} ${version})`
  );
}
