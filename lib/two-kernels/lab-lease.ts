/**
 * Names and loop devices of one run of the experiment. The name of its first container claims them,
 * since the engine refuses a second one; what a dead run left there is removed first.
 */
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from '../engine/ask.ts';
import { removeWhole } from '../engine/commands.ts';
import { commandError, tryRun } from '../engine/run.ts';
import { label } from '../cluster/kind/ownership/labels.ts';
import { leaseAt, leaseCount } from '../cluster/kind/ownership/lease.ts';
import { releaseLoops } from '../cluster/kind/disk/loops.ts';
import { currentOwner, decodeOwner, encodeOwner, ownerState } from '../owner.ts';
import { InfrastructureError } from '../errors.ts';

export interface LabLease {
  readonly containers: Readonly<Record<'lab' | 'array' | 'victim' | 'successor', string>>;
  readonly loops: Readonly<Record<'victim' | 'successor' | 'audit', number>>;
  /** The run's, as `encodeOwner` writes it. */
  readonly owner: string;
  /** `--label k=v …` of every container. */
  readonly labels: readonly string[];
  /** On the host: volumes, copies, the array's socket. */
  readonly folder: string;
}

/** In the run's folder: its owner, as in the containers' labels. */
const ownerFile = '.owner';

/** So many runs fit side by side. */
export const labLeaseCount = 16;
const lastLease = leaseAt(leaseCount - 1).loops;
/** Above all leases of clusters. */
const firstLoop = lastLease.first + lastLease.count;
const loopsPerLease = 8;

/** Claims the first free lease: `argv` starts its lab. Throws InfrastructureError `NO_PLACE`. */
export async function claimLabLease(
  folder: string,
  tools: string,
  argv: (lease: LabLease) => readonly string[],
): Promise<LabLease> {
  const owner = encodeOwner(currentOwner());
  await writeFile(join(folder, ownerFile), owner);
  for (let index = 0; index < labLeaseCount; index += 1) {
    const lease = labLeaseAt(index, folder, owner);
    if (!(await clearDead(lease, tools))) continue;
    const start = argv(lease);
    const started = await tryRun(start);
    if (started.exitCode === 0) return lease;
    if (!started.stderr.includes('already in use')) throw commandError(start, started);
  }
  throw new InfrastructureError(
    'NO_PLACE',
    `${labLeaseCount} runs of two-kernels are already running`,
    {
      hint: 'wait until one of them ends',
      again: [],
    },
  );
}

/**
 * Containers, loop devices and folder of a run are gone when this resolves; what has one of their
 * names and not the run's owner stays.
 */
export async function releaseLabLease(lease: LabLease, tools: string): Promise<void> {
  const named = (await inspect('container', Object.values(lease.containers))) as Inspected[];
  const own = named.filter(({ Config }) => Config.Labels?.[label.owner] === lease.owner);
  const names = own.map(({ Id }) => Id);
  if (names.length > 0) await tryRun(removeWhole(...names));
  const loops = { first: lease.loops.victim, count: loopsPerLease };
  await releaseLoops({ loops, holdsLease: true, volume: lease.folder, tools });
  await rm(lease.folder, { recursive: true, force: true });
}

export function labLeaseAt(index: number, folder: string, owner: string): LabLease {
  const name = (what: string): string => `fd-two-kernels-${index}-${what}`;
  const loop = firstLoop + index * loopsPerLease;
  return {
    containers: {
      ...{ lab: name('lab'), array: name('array') },
      ...{ victim: name('victim'), successor: name('successor') },
    },
    loops: { victim: loop, successor: loop + 1, audit: loop + 2 },
    owner,
    labels: ['--label', `${label.owner}=${owner}`, '--label', `${label.state}=${folder}`],
    folder,
  };
}

interface Inspected {
  readonly Id: string;
  readonly Config: { readonly Labels: Readonly<Record<string, string>> | null };
}

/** False where somebody who lives holds the lease, or who can't be seen from here. */
async function clearDead(lease: LabLease, tools: string): Promise<boolean> {
  const [found] = (await inspect('container', [lease.containers.lab])) as Inspected[];
  if (found === undefined) return true;
  const { [label.owner]: owner = '', [label.state]: folder = '' } = found.Config.Labels ?? {};
  const holder = decodeOwner(owner);
  if (holder === undefined || ownerState(holder) !== 'dead') return false;
  // A label may name any folder: the run's own says whose it is. One that is gone can't be harmed.
  const written = await readFile(join(folder, ownerFile), 'utf8').catch(() => '');
  if (written !== owner && existsSync(folder)) return false;
  await releaseLabLease({ ...lease, folder, owner }, tools);
  return true;
}
