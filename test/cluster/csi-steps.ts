/** The steps that the disk's tests are made of, and where they can run. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { which } from 'zx';
import { $ } from '../../lib/kind/engine/shell.ts';
import type { PathStatus } from '../../lib/storage/csi/array-client.ts';
import { callSchema } from '../../lib/storage/csi/grpc.ts';
import { capability, Driver } from './csi-harness.ts';

/** Why these tests can't run here; undefined where they can. */
export const reason =
  process.getuid?.() !== 0
    ? 'needs root'
    : !existsSync('/dev/loop-control')
      ? 'needs loop devices (/dev/loop-control)'
      : which.sync('go', { nothrow: true }) === null
        ? 'needs Go, to build the array'
        : undefined;

export const volume = 'pv-test';
export const newDriver = (): Driver => new Driver(mkdtempSync(join(tmpdir(), 'forcedetach-csi-')));
/** XFS asks for 300 MiB at least; the image is sparse. */
const sizeBytes = 320 * 2 ** 20;
export const createVolume = (driver: Driver, ...flags: string[]): Promise<unknown> =>
  driver.tool('create-volume', '--volume', volume, '--size-bytes', String(sizeBytes), ...flags);

export interface Published {
  readonly attributes?: Readonly<Record<string, string>>;
  readonly capability?: object;
}

/** Resolves to the publish context. A node is known once its driver ran. */
export async function publish(
  driver: Driver,
  node: string,
  detachMode: string,
  { attributes = {}, capability: asked = capability }: Published = {},
): Promise<unknown> {
  await driver.start(node);
  const request = {
    volumeId: volume,
    nodeId: node,
    volumeCapability: asked,
    volumeContext: { detachMode, ...attributes },
  };
  return (await driver.call('controller', 'controllerPublishVolume', request))['publishContext'];
}
export const unpublish = (driver: Driver, nodeId: string): Promise<unknown> =>
  driver.call('controller', 'controllerUnpublishVolume', { volumeId: volume, nodeId });
export const stage = (
  driver: Driver,
  node: string,
  publishContext: unknown,
  asked: object = capability,
): Promise<unknown> =>
  driver.call(node, 'nodeStageVolume', {
    volumeId: volume,
    publishContext,
    stagingTargetPath: driver.stagingOf(node),
    volumeCapability: asked,
  });
export const unstage = (driver: Driver, node: string): Promise<unknown> =>
  driver.call(node, 'nodeUnstageVolume', {
    volumeId: volume,
    stagingTargetPath: driver.stagingOf(node),
  });
export const write = (
  driver: Driver,
  node: string,
  file: string,
  content: string,
): Promise<unknown> =>
  $`printf %s ${content} | dd of=${join(driver.stagingOf(node), file)} conv=fsync`.quiet();
export const read = (driver: Driver, node: string, file: string): string =>
  readFileSync(join(driver.stagingOf(node), file), 'utf8');
/** This process has the node's mounts. The canary that a crash takes gets `after`. */
export const losePower = (driver: Driver): Promise<unknown> =>
  driver.tool(
    ...'lose-power --node a --unflushed keeps --seed 1 --canary after --pid'.split(' '),
    String(process.pid),
  );
export const patience = { timeout: 10_000, interval: 50 };
/** The path of that generation, as the array has it. */
export async function pathOf(driver: Driver, generation: number): Promise<PathStatus> {
  const paths = await driver.array.status(volume);
  const path = paths.find((each) => each.generation === generation);
  if (path === undefined) throw new TypeError(`no path of generation ${generation}`);
  return path;
}
export const logOf = (driver: Driver, host: string): ReturnType<typeof callSchema.parse>[] =>
  readFileSync(join(driver.shared, 'log', `csi-${host}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => callSchema.parse(JSON.parse(line)));
