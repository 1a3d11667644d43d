/**
 * The backend's record of one volume: which node has it, by which attachment, and whether that path
 * was cut. It is what a storage array knows, and it outlives every pod, node and loop device.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { z } from 'zod';
import { status } from '@grpc/grpc-js';
import { attributesSchema, defaultAttributes, type VolumeAttributes } from './requests.ts';
import { InfrastructureError } from '../../core/index.ts';
import { CallError } from './grpc.ts';
import { type Layout, isName, recordPath } from './layout.ts';

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

interface NewAttachment extends Pick<Attachment, 'node' | 'loop' | 'publishedAs'> {
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

interface AttachmentCut {
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

/*
 * Reads and changes attachment records on the shared directory. Whoever changes one holds the lock,
 * and a change appears whole or not at all, so any process may die at any time.
 */

/** How long to wait for another holder of the lock; holders need milliseconds. */
const lockTimeoutS = 20;

/** Undefined where there is no such volume. */
export async function readRecord(
  layout: Layout,
  volume: string,
): Promise<VolumeRecord | undefined> {
  const text = await readIfThere(recordPath(layout, volume));
  return text === undefined ? undefined : recordSchema.parse(JSON.parse(text));
}

/** Every volume with its record, by handle. */
export async function readRecords(layout: Layout): Promise<Map<string, VolumeRecord>> {
  const records = new Map<string, VolumeRecord>();
  for (const volume of (await readdir(layout.volumes).catch(absent)) ?? []) {
    const record = isName(volume) ? await readRecord(layout, volume) : undefined;
    if (record !== undefined) records.set(volume, record);
  }
  return records;
}

/** The change is on disk when this resolves. Only for holders of the lock. */
export const writeRecord = (layout: Layout, volume: string, record: VolumeRecord): Promise<void> =>
  writeWhole(recordPath(layout, volume), `${JSON.stringify(record, null, 2)}\n`);

/** Rejects with NOT_FOUND where there is no such volume. */
export async function neededRecord(layout: Layout, volume: string): Promise<VolumeRecord> {
  const record = await readRecord(layout, volume);
  if (record === undefined) throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
  return record;
}

/** Changes one volume's record under the lock. Rejects with NOT_FOUND where there is none. */
export const updateRecord = (
  layout: Layout,
  volume: string,
  change: (record: VolumeRecord) => VolumeRecord,
): Promise<VolumeRecord> =>
  locked(layout, async () => {
    const changed = change(await neededRecord(layout, volume));
    await writeRecord(layout, volume, changed);
    return changed;
  });

/**
 * Runs `work` while no other process in any container changes a record. flock(1) holds the lock, and
 * the kernel takes it back when this process dies: a lock file could outlive its owner.
 */
export async function locked<T>(layout: Layout, work: () => Promise<T>): Promise<T> {
  await mkdir(layout.root, { recursive: true });
  const holder = spawn(
    'flock',
    ['--wait', String(lockTimeoutS), layout.lock, 'sh', '-c', 'echo held; exec cat'],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(holder, 'exit');
  const first = await Promise.race([once(holder.stdout, 'data'), ended]);
  if (!String(first[0]).startsWith('held')) {
    throw new InfrastructureError('RECORD_LOCKED', `could not lock ${layout.lock}`, {
      hint: `Another process held it for ${lockTimeoutS} s; see which with the command.`,
      command: `fuser -v ${layout.lock}`,
    });
  }
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
}

/** The new content is on disk when this resolves; a reader sees it whole or the old one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}

/** Undefined where there is no such file. */
export const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(absent);

/** Swallows that a file or directory is not there, and no other error. */
export function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
