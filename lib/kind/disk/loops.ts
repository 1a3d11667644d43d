/**
 * Loop devices that a cluster left on the machine. They belong to the kernel: they outlive killed
 * nodes and deleted containers, so they are taken back by number and by the file behind them.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import * as engine from '../engine/commands.ts';
import { run } from '../engine/run.ts';
import { sharedDir } from '../create/kind-config.ts';
import type { Lease } from '../ownership/lease.ts';

/** Numbers of the loop devices in the lease that the kernel has now. */
export const leasedLoops = async (
  { loops: { first, count } }: Pick<Lease, 'loops'>,
  sysBlock = '/sys/block',
): Promise<number[]> =>
  (await readdir(sysBlock))
    .flatMap((name) => /^loop(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .filter((number) => number >= first && number < first + count)
    .toSorted((a, b) => a - b);

/** Those with something behind them: a number without is nobody's. */
export const boundLoops = async (
  lease: Pick<Lease, 'loops'>,
  sysBlock = '/sys/block',
): Promise<number[]> =>
  (await leasedLoops(lease, sysBlock)).filter((each) => existsSync(`${sysBlock}/loop${each}/loop`));

/** The script waits up to 3 s for each device that is in use. */
const releaseTimeoutMs = 180_000;

export interface Loops extends Pick<Lease, 'loops'> {
  /** The devices are leased to this cluster now. Else only those with files of its own are its. */
  readonly holdsLease: boolean;
  /** The shared directory: a volume of the engine, or a folder. */
  readonly volume: string;
  /** Image with what the script needs. */
  readonly tools: string;
}

/**
 * Takes the lease's loop devices back. All containers of the cluster must be gone, since a mount
 * holds its device. Resolves to those that stay, each with the reason.
 */
export async function releaseLoops({ loops, holdsLease, volume, tools }: Loops): Promise<string[]> {
  if ((await leasedLoops({ loops })).length === 0) return [];
  const script = await readFile(new URL('release-loops.sh', import.meta.url), 'utf8');
  const range = [String(loops.first), String(loops.first + loops.count - 1)];
  const flags = ['--privileged', '--network', 'none', '--volume', `${volume}:${sharedDir}`];
  const whose = holdsLease ? 'leased' : 'files-only';
  const command = ['-c', script, 'release-loops', sharedDir, ...range, whose];
  const argv = engine.runOnce([...flags, '--entrypoint', 'sh'], tools, ...command);
  const left = await run(argv, { timeoutMs: releaseTimeoutMs });
  return left.split('\n').filter((line) => line !== '');
}
