/** What a volume's attributes ask of the disk: CSI's volume context, by name, checked. */
import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import { diskModes } from '../../scenario/index.ts';
import { CallError } from './grpc.ts';
import { detachAnswers, stageAnswers } from './lies.ts';

export const attributesSchema = z.object({
  /** How a detach treats a node that still uses the volume. */
  detachMode: z.enum(diskModes).default('unfenced'),
  /** `ack-early` only: milliseconds from the answer to the cut. */
  cutAfterMs: z.number().int().nonnegative().default(10_000),
  /** `exclusive` only: whether the question for watchers gets an answer. */
  watcherCheck: z.enum(['works', 'missing']).default('works'),
  /** Whether another node may attach what the record still has for one. */
  attachWhileBusy: z.enum(['refused', 'granted']).default('refused'),
  /** `shared-file` only: one lock table for all nodes, or one a node. */
  fileLocks: z.enum(['shared', 'local']).default('shared'),
  /** Whether a flush makes anything durable. */
  flushes: z.enum(['honest', 'ignored']).default('honest'),
  /** Keeps the data of each write beside the log of writes. */
  keepWrites: z.boolean().default(false),
  /** `mmp`: ext4 with multiple mount protection. */
  mkfs: z.enum(['plain', 'mmp']).default('plain'),
  /** Whether the driver's answers to a detach and to staging are true. */
  detachAnswer: z.enum(detachAnswers).default('honest'),
  stageAnswer: z.enum(stageAnswers).default('honest'),
});
export type VolumeAttributes = z.infer<typeof attributesSchema>;

export const defaultAttributes: VolumeAttributes = attributesSchema.parse({});

/** The same as text, which is all that a volume context holds. */
const contextSchema = attributesSchema.extend({
  cutAfterMs: z
    .string()
    .regex(/^\d{1,9}$/, 'must be whole milliseconds')
    .transform(Number)
    .default(defaultAttributes.cutAfterMs),
  keepWrites: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .default(defaultAttributes.keepWrites),
});

/** Throws INVALID_ARGUMENT. Attributes of others, such as a provisioner's, are theirs. */
export function readAttributes(context: Readonly<Record<string, string>>): VolumeAttributes {
  const parsed = contextSchema.safeParse(context);
  if (parsed.success) return parsed.data;
  const why = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new CallError(status.INVALID_ARGUMENT, `volume attributes: ${why.join('; ')}`);
}
