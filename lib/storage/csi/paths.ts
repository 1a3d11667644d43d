/**
 * Paths of nodes to volumes: the one seam between the driver and what serves a node's device, which is
 * the array with a loop device for each attachment. Another transport begins here.
 *
 * A cut is in the record before any path is touched, and a node that stages looks into the record
 * after it opened its path: whichever comes second sees the other, so no path slips through.
 */
import { status } from '@grpc/grpc-js';
import { InfrastructureError } from '../../core/index.ts';
import type { ArrayErrorCode, ArrayPort, PathName, PathStatus } from './array-port.ts';
import { CallError } from './grpc.ts';
import type { Layout } from './layout.ts';
import { type Attachment, recordCut, stillHeld } from './record.ts';
import { updateRecord } from './record-store.ts';
import type { VolumeAttributes } from './volume-attributes.ts';

/** Where volumes lie, and what serves them. */
export interface StorageBackend {
  readonly layout: Layout;
  readonly array: ArrayPort;
}

export interface Target {
  readonly volume: string;
  readonly node: string;
}

export interface CutDevice {
  readonly device: string;
  readonly generation: number;
  /** Bytes the node had written through it when it was cut. */
  readonly bytesWritten: number;
}

/** Throws FAILED_PRECONDITION where the array has cut it. Idempotent. */
export async function openPath(
  { array }: StorageBackend,
  volume: string,
  { node, generation, loop }: Attachment,
  { keepWrites: keepData, flushes }: VolumeAttributes,
): Promise<void> {
  await array
    .open({ volume, node, generation, loop, keepData, flushes })
    .catch(as('PATH_CUT', `the array has cut generation ${generation}`));
}

/** Paths that have a device, cut or not: all, or those of one node or volume. */
export async function livePaths(
  array: ArrayPort,
  { volume, node }: Partial<Target> = {},
): Promise<PathStatus[]> {
  const paths = await array.status(volume);
  return paths.filter(
    (path) => path.state !== 'closed' && (node === undefined || path.node === node),
  );
}

/** Bytes written so far through each path of the volume that there is, keyed `node/generation`. */
export async function writtenSoFar(
  array: ArrayPort,
  volume: string,
): Promise<Readonly<Record<string, number>>> {
  const paths = await livePaths(array, { volume });
  return Object.fromEntries(
    paths.map(({ node, generation, bytesWritten }) => [`${node}/${generation}`, bytesWritten]),
  );
}

/** Closes the target's paths but one that nobody has mounted. Resolves to their devices. */
export async function closeUnused(
  { array }: StorageBackend,
  target: Target,
  except: number,
): Promise<string[]> {
  const freed: string[] = [];
  for (const path of await livePaths(array, target)) {
    if (path.generation === except || path.claimed) continue;
    if (await closed(array, path)) freed.push(path.device);
  }
  return freed;
}

/** False where it is mounted. */
export const closed = (array: ArrayPort, { volume, generation }: PathName): Promise<boolean> =>
  array.close({ volume, generation }).then(() => true, unless('PATH_BUSY', false));

/**
 * Fences out the node that holds the attachment: cuts its paths to the volume, now or so much later,
 * also one that is only being opened. Paths of a later attachment stay: whoever asks may be late.
 */
export async function fence(
  { layout, array }: StorageBackend,
  { volume, attachment }: { readonly volume: string; readonly attachment: Attachment },
  afterMs = 0,
): Promise<CutDevice[]> {
  const { node } = attachment;
  const record = await updateRecord(layout, volume, (now) =>
    stillHeld(now, attachment) === undefined
      ? now
      : recordCut(now, node, { cutFor: 'fence', wallMs: Date.now() + afterMs }),
  );
  const { generation: last } = stillHeld(record, attachment) ?? attachment;
  const paths = await livePaths(array, { volume, node });
  const meant = paths.map(({ generation }) => generation).filter((each) => each <= last);
  return cutAll(array, volume, [last, ...meant], afterMs);
}

/** Resolves to those of the paths that have a device. */
export async function cutAll(
  array: ArrayPort,
  volume: string,
  generations: readonly number[],
  afterMs = 0,
): Promise<CutDevice[]> {
  const asked = new Set(generations);
  const later = afterMs > 0 ? { afterMs } : {};
  for (const generation of asked) {
    await array.cut({ volume, generation, why: 'fence', ...later });
  }
  // Counted anew: some bytes may have come between the question and the cut.
  const now = asked.size === 0 ? [] : await livePaths(array, { volume });
  return now.filter(({ generation }) => asked.has(generation)).map(deviceOf);
}

export const deviceOf = ({ device, generation, bytesWritten }: PathStatus): CutDevice => ({
  device,
  generation,
  bytesWritten,
});

const isOf = (error: unknown, code: ArrayErrorCode): boolean =>
  error instanceof InfrastructureError && error.code === code;

/** Takes the array's error of this code for that, and throws any other. */
export const unless =
  <T>(code: ArrayErrorCode, instead: T) =>
  (error: unknown): T => {
    if (isOf(error, code)) return instead;
    throw error;
  };

/** Throws FAILED_PRECONDITION for the array's error of this code, any other as it is. */
const as =
  (code: ArrayErrorCode, why: string) =>
  (error: unknown): never => {
    throw isOf(error, code) ? new CallError(status.FAILED_PRECONDITION, why) : error;
  };
