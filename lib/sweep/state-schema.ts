/** What a sweep's state.json must be, so that a sweep can go on from it: it may have been cut or changed. */
import { z } from 'zod';
import { diskModes } from '../disk-modes/index.ts';
import { scenarioSchema } from '../experiment/scenario.ts';
import { pairCount } from './coverage.ts';
import type { SweepState } from './sweep.ts';

const count = z.number().int().nonnegative();
const name = z.string().max(1000);

const exampleSchema = z.object({ index: count, seed: z.string(), scenario: scenarioSchema });

const coverage = {
  transitions: z.array(count).length(pairCount),
  firstSeen: z.record(z.string().regex(/^\d+$/), exampleSchema),
};

const findingSchema = exampleSchema.extend({
  key: name,
  broken: z.array(z.string()),
  licence: z.array(z.string()),
  count,
});

/** A state of another version has other pairs of notices, or scenarios that are none today. */
export const sweepStateSchema = z.object({
  seed: z.string().min(1),
  next: count,
  disk: z.enum(diskModes).optional(),
  tally: z.object({
    schedules: count,
    virtualMs: count,
    remediesDrawn: count,
    remediesActed: count,
    findings: z.record(name, findingSchema),
    rows: z.record(name, z.object({ asked: count, yes: count, example: exampleSchema.optional() })),
    paths: z.record(name, z.object({ count, example: exampleSchema })),
    ...coverage,
  }),
  corpus: z.array(scenarioSchema),
  learned: z.object(coverage),
}) as unknown as z.ZodType<SweepState>;
