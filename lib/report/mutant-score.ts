/** Damage that was planted, in the store of measurements: what became of each kind, and the score of it. */
import { z } from 'zod';
import type { Verdict } from '../judge/index.ts';
import { countInWords } from '../core/index.ts';
import { lineSchema, linesOf } from '../batch/index.ts';

/** Its id is the mutant's name. */
export const mutantSchema = lineSchema.extend({
  kind: z.literal('mutant'),
  scenario: z.strictObject({
    shows: z.string(),
    /** The clean twin that it is a copy of. */
    twin: z.string(),
    /** The class within which it must be named. */
    className: z.string(),
  }),
  outcome: z.strictObject({
    /** How it was proven to be there. */
    effect: z.string(),
    proven: z.boolean(),
    caught: z.boolean(),
    named: z.boolean(),
    /** Codes of what was found, with blanks between. */
    codes: z.string(),
  }),
});

/** A volume with nothing planted in it. */
export const twinSchema = lineSchema.extend({
  kind: z.literal('clean-twin'),
  outcome: z.strictObject({ flagged: z.boolean() }),
});

export const smallestLossSchema = lineSchema.extend({
  kind: z.literal('smallest-loss'),
  outcome: z.strictObject({ lost: z.number().int(), of: z.number().int() }),
});

export const readPlanted = () => ({
  planted: linesOf(mutantSchema),
  twins: linesOf(twinSchema),
  smallest: linesOf(smallestLossSchema),
});

let known: ReturnType<typeof readPlanted> | undefined;

/**
 * One sentence for reports; without its date, so that only another score makes another page. Default: of
 * the store as it was when it was first asked for, since each page of each run says it.
 */
export function scoreInWords(
  { custom }: Pick<Verdict, 'custom'> = {},
  measured = (known ??=
    readPlanted()),
): string {
  const { planted, twins, smallest } = measured;
  // Damage was planted in volumes of this one alone.
  const version = planted[0]?.versions['mysql'];
  if (version === undefined || custom?.database !== undefined) {
    const whose = custom?.database ?? 'the database';
    return `no damage was planted in volumes of ${whose} yet: what its audit misses is not measured`;
  }
  // Proven to be there, and found.
  const caught = planted.filter(({ outcome }) => outcome.proven && outcome.caught);
  const named = caught.filter(({ outcome }) => outcome.named);
  const flagged = twins.filter(({ outcome }) => outcome.flagged);
  const smallestSeen = smallest.map(
    ({ outcome: { lost, of } }) =>
      `; smallest silent loss detected: ${countInWords(lost)} of ${countInWords(of)} commits`,
  );
  return (
    `${planted.length} kinds of damage planted in real volumes and histories: ${caught.length} caught, ${named.length}` +
    ` named correctly; ${flagged.length} of ${twins.length} clean twins flagged${smallestSeen.join('')}` +
    ` (MySQL ${version})`
  );
}
