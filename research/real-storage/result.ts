/** A trial in the store of measurements. */
import { z } from 'zod';
import { lineSchema } from '../../lib/batch/index.ts';
import { cellNames } from './cells.ts';
import { outcomeSchema } from './outcome.ts';

export const userInitiator = 'qemu-storage-daemon';

export const trialSchema = lineSchema.extend({
  kind: z.literal('storage-trial'),
  scenario: z.strictObject({
    transport: z.string(),
    revocation: z.string(),
    cell: z.enum(cellNames),
    repeat: z.number().int(),
    /** `qemu-storage-daemon`, or a kernel's. */
    initiator: z.string(),
    /** Between two writes of a writer. */
    everyMs: z.number(),
  }),
  seed: z.null(),
  basis: z.null(),
  outcome: outcomeSchema,
  date: z.string(),
});
export type TrialLine = Readonly<z.output<typeof trialSchema>>;
