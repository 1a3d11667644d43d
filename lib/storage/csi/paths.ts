/**
 * Paths of nodes to volumes: the one seam between the driver and what serves a node's device, which is
 * the array with a loop device for each attachment. Another transport begins here.
 *
 * A cut is in the record before any path is touched, and a node that stages looks into the record
 * after it opened its path: whichever comes second sees the other, so no path slips through.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { status } from '@grpc/grpc-js';
import { InfrastructureError, describeError } from '../../core/index.ts';
import type {
  ArrayErrorCode,
  ArrayPort,
  PathName,
  PathStatus,
  PathPowerLoss,
} from './array-client.ts';
import { CallError } from './grpc.ts';
import type { Layout } from './layout.ts';
import {
  type Attachment,
  recordCut,
  stillHeld,
  awaitsPower,
  heldBy,
  isHeld,
  powerUp,
  updateRecord,
  locked,
  neededRecord,
  readRecords,
  writeRecord,
} from './record.ts';
import type { VolumeAttributes } from './requests.ts';
import { endsOf, type PowerLoss, type Revocation } from '../../scenario/index.ts';
import {
  type LoopRange,
  devicePath,
  isBound,
  isClaimed,
  removeLoop,
  unbind,
  unbindOver,
  volumeBehind,
  numbersIn,
} from './devices.ts';

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
  { keepWrites: keepData, flushes, transport }: VolumeAttributes,
): Promise<void> {
  const connect = endsOf(transport)?.connect(storageHost, `forcedetach.${volume}.${generation}`);
  await array
    .open({ volume, node, generation, loop, keepData, flushes, transport, connect })
    .catch(as('PATH_CUT', `the array has cut generation ${generation}`));
}

/** The array's name on the storage network, for the initiators. */
export const storageHost = 'storage';

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
  { how, afterMs = 0 }: CutOptions = {},
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
  return cutAll(array, volume, [last, ...meant], { how, afterMs });
}

interface CutOptions {
  /** Default: by the array itself. */
  readonly how?: Revocation | undefined;
  /** Default: at once. */
  readonly afterMs?: number;
}

/** Resolves to those of the paths that have a device and no way left, or soon none. */
export async function cutAll(
  array: ArrayPort,
  volume: string,
  generations: readonly number[],
  { how = 'cut', afterMs = 0 }: CutOptions = {},
): Promise<CutDevice[]> {
  const asked = new Set(generations);
  const later = afterMs > 0 ? { afterMs } : {};
  for (const generation of asked) {
    await array.cut({ volume, generation, why: 'fence', how, ...later });
  }
  // Counted anew: some bytes may have come between the question and the cut.
  const now = asked.size === 0 ? [] : await livePaths(array, { volume });
  return now
    .filter(({ generation, state }) => asked.has(generation) && (afterMs > 0 || state === 'cut'))
    .map(deviceOf);
}

const deviceOf = ({ device, generation, bytesWritten }: PathStatus): CutDevice => ({
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

interface PowerLossOptions {
  readonly node: string;
  /** What becomes of writes that were acknowledged and not flushed. */
  readonly unflushed: PowerLoss;
  readonly seed: string;
  /** Writes, right before the cut, what the crash is to take. Default: nothing is written. */
  readonly writeCanary?: (path: PathStatus) => Promise<void>;
}

interface LostVolume extends PathPowerLoss {
  readonly volume: string;
  /** When the canary was written that the crash is to take; Unix ms, undefined where none was. */
  readonly canaryAt?: number | undefined;
  /** Why this call wrote none. */
  readonly canaryError?: string | undefined;
}

interface LostPower {
  readonly devices: readonly (CutDevice & { readonly volume: string })[];
  /** By volume that the node had a path to. */
  readonly lost: readonly LostVolume[];
}

/** All paths of the node are cut for good. Safe to repeat after a death half-way. */
export async function losePower(
  { layout, array }: StorageBackend,
  { node, unflushed, seed, writeCanary }: PowerLossOptions,
): Promise<LostPower> {
  const held = [...(await readRecords(layout))]
    .filter(([, record]) => heldBy(record, node) !== undefined)
    .map(([volume]) => volume);
  const open = (await livePaths(array, { node })).map(({ volume }) => volume);
  const lost: LostVolume[] = [];
  for (const volume of new Set([...held, ...open])) {
    const target = { volume, node };
    const canary = await written({ layout, array }, target, writeCanary);
    // The record is changed before the path, as paths.ts says.
    const record = await updateRecord(layout, volume, (now) =>
      recordCut(now, node, { cutFor: 'crash', wallMs: Date.now(), canaryAt: canary.at }),
    );
    if ((await livePaths(array, target)).length === 0) continue;
    const loss = await array.losePower({ volume, node, unflushed, seed });
    const { canaryAt } = heldBy(record, node) ?? {};
    lost.push({ volume, ...loss, canaryAt, canaryError: canary.error });
  }
  const now = await livePaths(array, { node });
  return { devices: now.map((path) => ({ volume: path.volume, ...deviceOf(path) })), lost };
}

/** When the canary was written. Never rejects: one that can't be keeps no power from being lost. */
async function written(
  { layout, array }: StorageBackend,
  target: Target,
  writeCanary: PowerLossOptions['writeCanary'],
): Promise<{ readonly at?: number; readonly error?: string }> {
  if (writeCanary === undefined) return {};
  try {
    const held = heldBy(await neededRecord(layout, target.volume), target.node);
    const path = (await livePaths(array, target)).find(
      ({ generation, state }) => generation === held?.generation && state === 'open',
    );
    if (path === undefined) return { error: 'no path to write it through was open' };
    await writeCanary(path);
    return { at: Date.now() };
  } catch (error) {
    return { error: describeError(error) };
  }
}

/**
 * A loop number that serves nobody, by any record, the array or the kernel. Each generation begins one
 * further, so that numbers rarely repeat. For lock holders.
 */
export async function loopFor(
  { layout, array }: StorageBackend,
  loops: LoopRange,
  generation: number,
): Promise<number> {
  const records = [...(await readRecords(layout)).values()];
  const held = records.flatMap(({ attachments }) => attachments.filter(isHeld));
  const taken = new Set([...held, ...(await livePaths(array))].map(({ loop }) => loop));
  const numbers = numbersIn(loops);
  const start = (generation - 1) % numbers.length;
  for (const loop of [...numbers.slice(start), ...numbers.slice(0, start)])
    if (!taken.has(loop) && !(await isBound(loop))) return loop;
  throw new CallError(status.RESOURCE_EXHAUSTED, 'all loop devices of this cluster are in use');
}

/** Gives a new path to each attachment that nothing but a crash keeps from the node. */
async function restorePower(
  backend: StorageBackend,
  loops: LoopRange,
  node: string,
): Promise<void> {
  const { layout } = backend;
  for (const volume of (await readRecords(layout)).keys()) {
    await locked(layout, async () => {
      const record = await neededRecord(layout, volume);
      if (!awaitsPower(record, node)) return;
      const loop = await loopFor(backend, loops, record.nextGeneration);
      await writeRecord(layout, volume, powerUp(record, node, { loop, wallMs: Date.now() }));
    });
  }
}

/*
 * Closes paths that no longer serve anyone. A path outlives a killed node, and its loop device even
 * a deleted cluster and a dead array. A device is ours by its leased number and by the file behind
 * it, never by one of them alone.
 */

export interface Released {
  readonly freed: readonly string[];
  /** Still mounted by someone, so left alone. */
  readonly busy: readonly string[];
}

/** The kernel unmounts a killed node's file systems a moment after its last process ended. */
const unmountPatienceMs = 5000;

/** What a dead node left. Where a crash was played, the node may use the volume again once it boots. */
export async function releaseNode(
  backend: StorageBackend,
  loops: LoopRange,
  node: string,
): Promise<Released> {
  const paths = await livePaths(backend.array, { node });
  for (const volume of new Set(paths.filter(isSevered).map((path) => path.volume))) {
    // Its path will be cut below. It died with it, so that is a crash, and the record must say so.
    await updateRecord(backend.layout, volume, (now) =>
      recordCut(now, node, { cutFor: 'crash', wallMs: Date.now() }),
    );
  }
  await unbindOver(paths.map(({ loop }) => loop));
  const released = await closePaths(backend.array, paths, unmountPatienceMs);
  if (released.busy.length === 0) await restorePower(backend, loops, node);
  return released;
}

/** All of a cluster's paths that nobody has mounted, with an array or without one. */
export async function releaseAll(array: ArrayPort, range: LoopRange): Promise<Released> {
  const paths = await livePaths(array).catch(unless('NO_ARRAY', []));
  const served = await closePaths(array, paths, unmountPatienceMs);
  const left = await releaseLoops(range, served.busy);
  return { freed: [...served.freed, ...left.freed], busy: [...served.busy, ...left.busy] };
}

/**
 * Closes what becomes unmounted within the time. A path that may hold requests is refused first: no
 * unmount gets past them.
 */
export async function closePaths(
  array: ArrayPort,
  paths: readonly PathStatus[],
  patienceMs: number,
): Promise<Released> {
  const giveUpAt = performance.now() + patienceMs;
  const freed: string[] = [];
  const busy: string[] = [];
  for (const path of paths) {
    const { volume, generation, device, state } = path;
    if (isSevered(path) || state === 'cut')
      await array.cut({ volume, generation, why: 'release', how: 'end' });
    let isClosed = await closed(array, path);
    while (!isClosed && performance.now() < giveUpAt) {
      await sleep(50);
      isClosed = await closed(array, path);
    }
    (isClosed ? freed : busy).push(device);
  }
  return { freed, busy };
}

const isSevered = ({ state, link }: PathStatus): boolean => state === 'open' && link !== 'pass';

/** What waits for a path that was cut without an answer, or whose link stalls, gets an error; others stay. */
export async function failHeld(array: ArrayPort, node: string): Promise<void> {
  for (const path of await livePaths(array, { node })) {
    const { volume, generation } = path;
    if (path.state === 'cut' || isSevered(path))
      await array.close({ volume, generation, force: true });
  }
}

/** Devices that no array answers for any more; with them go unbound leftovers. */
async function releaseLoops(range: LoopRange, except: readonly string[]): Promise<Released> {
  const freed: string[] = [];
  const busy: string[] = [];
  for (const loop of numbersIn(range)) {
    const device = devicePath(loop);
    if (except.includes(device)) continue;
    const bound = await isBound(loop);
    if (bound && (await volumeBehind(loop)) === undefined) continue;
    if (bound && (await isClaimed(loop))) {
      busy.push(device);
      continue;
    }
    if (bound) {
      await unbindOver([loop]);
      freed.push(device);
    }
    await unbind(loop);
    await removeLoop(loop);
  }
  return { freed, busy };
}
