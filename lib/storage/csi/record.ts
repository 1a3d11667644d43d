/**
 * The backend's record of one volume: which node has it, by which attachment, and whether that path
 * was cut. It is what a storage array knows, and it outlives every pod, node and loop device.
 */
import { z } from 'zod';
import { attributesSchema, defaultAttributes, type VolumeAttributes } from './volume-attributes.ts';

const attachmentSchema = z.strictObject({
  node: z.string(),
  /** Counts the paths to this volume; never used twice. */
  generation: z.int().positive(),
  /** The generation that Kubernetes was told, where a crash cost the node the path of that name. */
  publishedAs: z.int().positive().optional(),
  /** Number of the loop device that serves it, and no other attachment meanwhile. */
  loop: z.int().nonnegative(),
  /**
   * `attached`: may be staged. `cut`: each read and write fails. `replaced`: a crash cut it, and
   * since the boot another path stands for it. `detached`: history.
   */
  state: z.enum(['attached', 'cut', 'replaced', 'detached']),
  /** Why it was cut: the backend fences the node out, or its machine is made to crash. */
  cutFor: z.enum(['fence', 'crash']).optional(),
  /** Unix milliseconds. */
  attachedAt: z.number(),
  cutAt: z.number().optional(),
  detachedAt: z.number().optional(),
  /** When the canary was written that the crash which cut it was to take. */
  canaryAt: z.number().optional(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

export const recordSchema = z.strictObject({
  /** The latest attachment's. */
  attributes: attributesSchema,
  nextGeneration: z.int().positive(),
  attachments: z.array(attachmentSchema),
});
export type VolumeRecord = z.infer<typeof recordSchema>;

export const newRecord = (): VolumeRecord => ({
  attributes: defaultAttributes,
  nextGeneration: 1,
  attachments: [],
});

/** What Kubernetes calls the attachment; it stays the same when a crash costs it a path. */
export const publishedName = ({ publishedAs, generation }: Attachment): number =>
  publishedAs ?? generation;

/** True while a node holds it, cut or not. */
export const isHeld = ({ state }: Attachment): boolean => state === 'attached' || state === 'cut';

/** The attachment that the node holds and that was not detached, cut or not. */
export const heldBy = (record: VolumeRecord, node: string): Attachment | undefined =>
  record.attachments.find((each) => each.node === node && isHeld(each));

/** The attachment as the record has it now: a crash may have given it another path meanwhile. */
export function stillHeld(record: VolumeRecord, attachment: Attachment): Attachment | undefined {
  const held = heldBy(record, attachment.node);
  const isSame = held !== undefined && publishedName(held) === publishedName(attachment);
  return isSame ? held : undefined;
}

/** The attachment that keeps another node than this one from attaching. */
export const heldElsewhere = (record: VolumeRecord, node: string): Attachment | undefined =>
  record.attachments.find((each) => each.node !== node && isHeld(each));

export interface NewAttachment extends Pick<Attachment, 'node' | 'loop' | 'publishedAs'> {
  readonly attributes: VolumeAttributes;
  readonly wallMs: number;
}

/** The record with a new attachment of a new generation. The caller has checked that none is held. */
export function attach(
  { nextGeneration: generation, attachments }: VolumeRecord,
  { attributes, wallMs, ...about }: NewAttachment,
): VolumeRecord {
  const attached: Attachment = { ...about, generation, state: 'attached', attachedAt: wallMs };
  return { attributes, nextGeneration: generation + 1, attachments: [...attachments, attached] };
}

export interface AttachmentCut {
  readonly cutFor: 'fence' | 'crash';
  readonly wallMs: number;
  readonly canaryAt?: number | undefined;
}

/** The node's attachment is cut from now on; a cut one stays as it is, but a fence outlasts a crash. */
export const recordCut = (
  record: VolumeRecord,
  node: string,
  { cutFor, wallMs, canaryAt }: AttachmentCut,
): VolumeRecord =>
  change(record, node, (each) => {
    if (each.state === 'attached') {
      const canary = canaryAt === undefined ? {} : { canaryAt };
      return { ...each, state: 'cut', cutFor, cutAt: wallMs, ...canary };
    }
    return cutFor === 'fence' ? { ...each, cutFor } : each;
  });

/** The node holds nothing any more. */
export const detach = (record: VolumeRecord, node: string, wallMs: number): VolumeRecord =>
  change(record, node, (each) => ({ ...each, state: 'detached', detachedAt: wallMs }));

/** True where a crash, and nothing but a crash, keeps the node from what it holds. */
export const awaitsPower = (record: VolumeRecord, node: string): boolean => {
  const held = heldBy(record, node);
  return held?.state === 'cut' && held.cutFor === 'crash';
};

/**
 * The machine's power is back: a crash detaches nothing, so what its crash cut gets a new path, of a
 * new generation, under the name that Kubernetes knows. What the backend fenced stays cut for ever.
 */
export function powerUp(
  record: VolumeRecord,
  node: string,
  path: { readonly loop: number; readonly wallMs: number },
): VolumeRecord {
  const held = heldBy(record, node);
  if (held === undefined || !awaitsPower(record, node)) return record;
  const replaced = change(record, node, (each) => ({ ...each, state: 'replaced' }));
  const { attributes } = record;
  return attach(replaced, { node, attributes, publishedAs: publishedName(held), ...path });
}

function change(
  record: VolumeRecord,
  node: string,
  to: (attachment: Attachment) => Attachment,
): VolumeRecord {
  const attachments = record.attachments.map((each) =>
    each.node === node && isHeld(each) ? to(each) : each,
  );
  return { ...record, attachments };
}
