/**
 * Containers with loop devices and a folder, and without a cluster: of two-kernels, of benches, of tests.
 * Their labels name the owner, so that a dead one's are found and removed, as clusters are.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as engine from '../engine/commands.ts';
import { run, inspect, list, tryRun } from '../engine/run.ts';
import { sharedDir } from '../create/kind-config.ts';
import type { Lease } from './lease.ts';
import { currentOwner, decodeOwner, encodeOwner, ownerState } from '../../core/index.ts';
import { label, labelFlags } from './registry.ts';

/*
 * Loop devices that a cluster left on the machine. They belong to the kernel: they outlive killed
 * nodes and deleted containers, so they are taken back by number and by the file behind them.
 */

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

interface MarkedLab {
  /** On the host; the files behind the devices lie in it. */
  readonly folder: string;
  readonly loops: Lease['loops'];
  /** Image with what releases the devices. */
  readonly tools: string;
}

export interface FoundLab extends MarkedLab {
  /** The words of `encodeOwner`. */
  readonly owner: string;
  readonly containers: readonly string[];
}

/** The file in the folder with the owner of the labels: a label alone may name any folder. */
const ownerFile = '.owner';

/** Marks the folder, and returns `--label k=v …` for each container of the lab. */
export function markLab({ folder, loops, tools }: MarkedLab): string[] {
  const owner = encodeOwner(currentOwner());
  writeFileSync(join(folder, ownerFile), owner);
  return labelFlags({
    [label.owner]: owner,
    [label.state]: folder,
    [label.loops]: `${loops.first}+${loops.count}`,
    [label.tools]: tools,
  });
}

/** Name of a lock: held by a process that uses these devices, or removes what a dead one left on them. */
export const lockName = ({ first }: Pick<Lease['loops'], 'first'>): string => `loops/${first}`;

export interface MarkedContainer {
  readonly Id: string;
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null };
}

/** The lab of containers that carry its labels. */
export function labsOf(containers: readonly MarkedContainer[]): FoundLab[] {
  const labs = new Map<string, FoundLab>();
  for (const { Id, Config } of containers) {
    const { [label.owner]: owner = '', [label.state]: folder = '' } = Config.Labels ?? {};
    const { [label.loops]: range = '', [label.tools]: tools = '' } = Config.Labels ?? {};
    const [, first, count] = /^(\d{1,7})\+(\d{1,4})$/.exec(range) ?? [];
    if (first === undefined || folder === '' || tools === '') continue;
    const containers = [...(labs.get(folder)?.containers ?? []), Id];
    const loops = { first: Number(first), count: Number(count) };
    labs.set(folder, { owner, folder, loops, tools, containers });
  }
  return [...labs.values()];
}

export const findLabs = async (): Promise<FoundLab[]> =>
  labsOf((await inspect('container', await list('container', [label.loops]))) as MarkedContainer[]);

/** Reason why the lab must stay, or undefined where it is left over. */
export function whyLabStays({ owner, folder }: FoundLab): string | undefined {
  const maker = decodeOwner(owner);
  const state = maker === undefined ? 'unknown' : ownerState(maker);
  if (state !== 'dead') return `its owner is ${state}`;
  const ownerPath = join(folder, ownerFile);
  const marked = existsSync(ownerPath) ? readFileSync(ownerPath, 'utf8') : undefined;
  // A folder that is gone can't be harmed.
  return marked === owner || !existsSync(folder) ? undefined : `${folder} has another owner`;
}

/** Containers, networks, devices and folder are gone when this resolves, but for the devices that it resolves to. */
export async function removeLab({
  containers,
  folder,
  loops,
  tools,
}: Omit<FoundLab, 'owner'>): Promise<string[]> {
  // Their names keep the next one out until the devices are free.
  if (containers.length > 0) await tryRun(engine.kill(...containers));
  const left = await releaseLoops({ loops, holdsLease: true, volume: folder, tools });
  if (containers.length > 0) await run(engine.removeWhole(...containers));
  for (const network of await list('network', [`${label.state}=${folder}`])) {
    const { exitCode, stderr } = await tryRun(engine.removeNetwork(network));
    if (exitCode !== 0) left.push(stderr);
  }
  rmSync(folder, { recursive: true, force: true });
  return left;
}
