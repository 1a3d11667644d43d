/**
 * Loop devices that a cluster left on the machine. They belong to the kernel: they outlive killed
 * nodes and deleted containers, so they are taken back by number and by the file behind them.
 */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import * as engine from '../../../engine/commands.ts';
import { run } from '../../../engine/run.ts';
import { sharedDir } from '../create/kind-config.ts';
import { machineLoops, type Lease } from '../ownership/lease.ts';

/** Numbers of the loop devices in the lease that the kernel has now. */
export async function leasedLoops(
  { loops: { first, count } }: Pick<Lease, 'loops'>,
  sysBlock = '/sys/block',
): Promise<number[]> {
  return (await readdir(sysBlock))
    .flatMap((name) => /^loop(\d+)$/.exec(name)?.[1] ?? [])
    .map(Number)
    .filter((number) => number >= first && number < first + count)
    .toSorted((a, b) => a - b);
}

/** Those with something behind them: a number without is nobody's. */
export const boundLoops = async (
  lease: Pick<Lease, 'loops'>,
  sysBlock = '/sys/block',
): Promise<number[]> =>
  (await leasedLoops(lease, sysBlock)).filter((each) => existsSync(`${sysBlock}/loop${each}/loop`));

/** LOOP_CTL_ADD of linux/loop.h; 17 is EEXIST. Makes these numbers with nothing behind them. */
const addScript = `open F, "+<", "/dev/loop-control" or die "$!\\n";
  for (@ARGV) { ioctl F, 0x4C80, $_ + 0 or $! == 17 or die "loop$_: $!\\n" }`;

/**
 * Makes the loop devices that the kernel gives away to whoever asks it for any, as kubelet does for each raw
 * volume of a pod: it takes an existing one first, which else could be a lease's. They stay. Idempotent.
 */
export async function ensureMachineLoops(tools: string): Promise<void> {
  const { first, count } = machineLoops;
  const numbers = Array.from({ length: count }, (_, index) => String(first + index));
  const flags = ['--privileged', '--network', 'none', '--entrypoint', 'perl'];
  await run(engine.runOnce(flags, tools, '-e', addScript, ...numbers));
}

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
