/**
 * The backend's record of one volume: which node has it, by which attachment, and whether that path
 * was cut. It is what a storage array knows, and it outlives every pod, node and loop device.
 */
import { z } from 'zod';

/** How a detach treats a node that still uses the volume. */
export const detachModes = ['unfenced', 'fenced'] as const;
export type DetachMode = (typeof detachModes)[number];

const attachmentSchema = z.strictObject({
  node: z.string(),
  /** Counts the attachments of this volume; never used twice. */
  generation: z.int().positive(),
  /** Number of the loop device that serves it, and no other attachment meanwhile. */
  loop: z.int().nonnegative(),
  /** `attached`: may be staged. `cut`: each read and write fails. `detached`: history. */
  state: z.enum(['attached', 'cut', 'detached']),
  /** Why it was cut: the backend fences the node out, or its machine is made to crash. */
  cutFor: z.enum(['fence', 'crash']).optional(),
  /** Unix milliseconds. */
  attachedAt: z.number(),
  cutAt: z.number().optional(),
  detachedAt: z.number().optional(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

export const recordSchema = z.strictObject({
  mode: z.enum(detachModes),
  nextGeneration: z.int().positive(),
  attachments: z.array(attachmentSchema),
});
export type VolumeRecord = z.infer<typeof recordSchema>;

export const newRecord = (): VolumeRecord => ({
  mode: 'unfenced',
  nextGeneration: 1,
  attachments: [],
});

/** Who a loop number served last, by number: detached attachments may have lent theirs on. */
export function ownersOf(record: VolumeRecord): Map<number, Attachment> {
  return new Map(record.attachments.map((each) => [each.loop, each]));
}

export interface AttachRequest {
  readonly node: string;
  readonly mode: DetachMode;
  /** A loop number that serves nobody. */
  readonly loop: number;
  readonly wallMs: number;
}

/** The attachment that the node holds and that was not detached, cut or not. */
export const heldBy = (record: VolumeRecord, node: string): Attachment | undefined =>
  record.attachments.find((each) => each.node === node && each.state !== 'detached');

/** The attachment that keeps another node than this one from attaching. */
export const heldElsewhere = (record: VolumeRecord, node: string): Attachment | undefined =>
  record.attachments.find((each) => each.node !== node && each.state !== 'detached');

/** The record with a new attachment of a new generation. The caller has checked that none is held. */
export function attach(
  record: VolumeRecord,
  { node, mode, loop, wallMs }: AttachRequest,
): VolumeRecord {
  const attachment: Attachment = {
    node,
    generation: record.nextGeneration,
    loop,
    state: 'attached',
    attachedAt: wallMs,
  };
  return {
    mode,
    nextGeneration: record.nextGeneration + 1,
    attachments: [...record.attachments, attachment],
  };
}

/** The node's attachment is cut from now on; a cut one stays as it is, but a fence outlasts a crash. */
export function cut(
  record: VolumeRecord,
  node: string,
  cutFor: 'fence' | 'crash',
  wallMs: number,
): VolumeRecord {
  return change(record, node, (each) => {
    if (each.state === 'attached') return { ...each, state: 'cut', cutFor, cutAt: wallMs };
    return cutFor === 'fence' ? { ...each, cutFor } : each;
  });
}

/** The node holds nothing any more. */
export function detach(record: VolumeRecord, node: string, wallMs: number): VolumeRecord {
  return change(record, node, (each) => ({ ...each, state: 'detached', detachedAt: wallMs }));
}

/**
 * The machine's power is back: what its crash cut may be opened anew, by a new device, because a
 * crash detaches nothing. What the backend fenced stays cut for ever.
 */
export function powerUp(record: VolumeRecord, node: string): VolumeRecord {
  return change(record, node, ({ cutFor, cutAt, ...rest }) =>
    rest.state === 'cut' && cutFor === 'crash'
      ? { ...rest, state: 'attached' }
      : { ...rest, ...(cutFor && { cutFor }), ...(cutAt !== undefined && { cutAt }) },
  );
}

function change(
  record: VolumeRecord,
  node: string,
  to: (attachment: Attachment) => Attachment,
): VolumeRecord {
  const attachments = record.attachments.map((each) =>
    each.node === node && each.state !== 'detached' ? to(each) : each,
  );
  return { ...record, attachments };
}
