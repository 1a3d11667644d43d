/**
 * Runs in the store of measurements: a scenario, and what it came to. Histories of hundreds of runs are
 * too large for git; what expectations and their pages are made from is here.
 */
import { z } from 'zod';
import { verdictWords, type Scenario } from '../../scenario/index.ts';
import { recordedScenario } from '../../history/index.ts';
import { lineSchema, linesOf, measuredBasis } from '../measurements/store.ts';
import { indifferentNames } from './scenario-key.ts';

const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** What pages tell of single runs, beside their verdict. */
const shownSchema = z.strictObject({
  asExpected: z.boolean(),
  noticed: z.enum(['loud', 'silent']).nullable(),
  /** Longest time without a commit that an outside client got. Absent where nobody wrote it down. */
  downtimeMs: z.number().nullable().optional(),
  /** How long two could write, and what each wrote meanwhile. */
  exposureMs: z.number(),
  bytesVictim: z.number(),
  bytesSuccessor: z.number(),
  /** Undefined where nobody counts what is written (shared directories). */
  blocksBoth: z.number().optional(),
  /** Acknowledged commits missing from the copy before the heal, and from the one after it. */
  lostBeforeHeal: z.number().optional(),
  lostAfterHeal: z.number().optional(),
});
export type EventDetails = Readonly<z.output<typeof shownSchema>>;

export const runSchema = lineSchema.extend({
  kind: z.literal('run'),
  /** `eventOf` tells lines of one fault event from those of another batch. */
  event: z.string(),
  /** Fields that are not stock; names, questions and expectations left out. */
  scenario: z.record(z.string(), z.union([scalar, z.record(z.string(), z.boolean())])),
  seed: z.string(),
  outcome: z.strictObject({
    verdict: z.enum(verdictWords),
    /** Whether somebody served after the heal; null where an older run does not tell. */
    served: z.boolean().nullable(),
    acked: z.number().int(),
    /** Null where no copy of the volume could tell. */
    lost: z.number().int().nullable(),
    /** Seconds after the fault; null: none before the heal. */
    secondMountS: z.number().nullable(),
    /** Absent where nobody wrote it down. */
    shown: shownSchema.optional(),
  }),
  basis: measuredBasis,
  machine: lineSchema.shape.machine.unwrap(),
  versions: z.object({ kubernetes: z.string() }).catchall(z.string()),
});
export type RunLine = Readonly<z.output<typeof runSchema>>;

export const readRuns = (): readonly RunLine[] => linesOf(runSchema);

/**
 * Lines with the same one are volumes under one fault event. Cells of another batch, or of the same one
 * run again, have the same names; what broke one node at one moment was begun at one moment.
 */
export const eventOf = ({ source, event, date }: RunLine): string =>
  [source, date ?? '', event].join('\n');

/** Not part of what was done. */
const told = new Set(indifferentNames);

const about = { name: 'fault-event', question: '?', expected: ['safe'] };

/** Fields of a recorded scenario that are not stock. */
export function changedSettings(recorded: Readonly<Record<string, unknown>>): RunLine['scenario'] {
  const whole = recordedScenario(recorded);
  const stock = recordedScenario({ ...about, fault: whole.fault, kubernetes: whole.kubernetes });
  const changed = Object.entries(whole).filter(
    ([field, value]) =>
      field === 'fault' ||
      (field !== 'kubernetes' &&
        !told.has(field) &&
        JSON.stringify(value) !== JSON.stringify(stock[field as keyof Scenario])),
  );
  return Object.fromEntries(changed) as RunLine['scenario'];
}

export const scenarioOfLine = ({
  scenario,
  versions,
}: Pick<RunLine, 'scenario' | 'versions'>): Scenario =>
  recordedScenario({ ...about, ...scenario, kubernetes: versions.kubernetes });
