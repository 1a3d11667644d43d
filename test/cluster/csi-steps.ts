/** The steps that the disk's tests are made of, and where they can run. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $ } from 'zx';
import { callSchema } from '../../lib/csi/call-log.ts';
import { capability, Driver } from './csi-harness.ts';

/** Why these tests can't run here; undefined where they can. */
export const reason =
  process.getuid?.() !== 0
    ? 'needs root'
    : existsSync('/dev/loop-control')
      ? undefined
      : 'needs loop devices (/dev/loop-control)';

export const volume = 'pv-test';
export const newDriver = (): Driver => new Driver(mkdtempSync(join(tmpdir(), 'forcedetach-csi-')));
export const createVolume = (driver: Driver): Promise<unknown> =>
  driver.tool('create-volume', '--volume', volume, '--size-bytes', String(64 * 2 ** 20));

export async function publish(driver: Driver, node: string, detachMode: string): Promise<unknown> {
  const request = {
    volumeId: volume,
    nodeId: node,
    volumeCapability: capability,
    volumeContext: { detachMode },
  };
  return (await driver.call('controller', 'controllerPublishVolume', request))['publishContext'];
}
export const unpublish = (driver: Driver, nodeId: string): Promise<unknown> =>
  driver.call('controller', 'controllerUnpublishVolume', { volumeId: volume, nodeId });
export const stage = (driver: Driver, node: string, publishContext: unknown): Promise<unknown> =>
  driver.call(node, 'nodeStageVolume', {
    volumeId: volume,
    publishContext,
    stagingTargetPath: driver.stagingOf(node),
    volumeCapability: capability,
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
export const patience = { timeout: 10_000, interval: 50 };
/** What the kernel counts, from /sys/block/loopN/stat. */
export const writtenTo = (context: unknown): number => {
  const stat = readFileSync(`/sys/block/loop${loopOf(context)}/stat`, 'utf8');
  return Number(stat.trim().split(/\s+/)[6]) * 512;
};
export const loopOf = (context: unknown): number => Number((context as { loop: string }).loop);
export const logOf = (driver: Driver, host: string): ReturnType<typeof callSchema.parse>[] =>
  readFileSync(join(driver.shared, 'log', `csi-${host}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => callSchema.parse(JSON.parse(line)));
