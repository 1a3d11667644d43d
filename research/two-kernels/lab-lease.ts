/**
 * Names and loop devices of one run of the experiment. The name of its first container claims them,
 * since the engine refuses a second one; what a dead run left there is removed first.
 */
import {
  inspect,
  list,
  commandError,
  tryRun,
  label,
  labsOf,
  leaseAt,
  leaseCount,
  type MarkedContainer,
  markLab,
  removeLab,
  whyLabStays,
} from '../../lib/kind/index.ts';
import { InfrastructureError } from '../../lib/core/index.ts';

export interface LabLease {
  readonly containers: Readonly<Record<'lab' | 'array' | 'victim' | 'successor', string>>;
  readonly loops: Readonly<Record<'victim' | 'successor' | 'audit', number>>;
  /** `--label k=v …` of every container. */
  readonly labels: readonly string[];
  /** On the host: volumes, copies, the array's socket. */
  readonly folder: string;
}

/** So many runs fit side by side. */
export const labLeaseCount = 16;
const lastLease = leaseAt(leaseCount - 1).loops;
/** Above all leases of clusters. */
const firstLoop = lastLease.first + lastLease.count;
const loopsPerLease = 8;
/** For others. */
export const loopsAbove = firstLoop + labLeaseCount * loopsPerLease;

/** Claims the first free lease: `argv` starts its lab. Throws InfrastructureError `NO_PLACE`. */
export async function claimLabLease(
  folder: string,
  tools: string,
  argv: (lease: LabLease) => readonly string[],
): Promise<LabLease> {
  for (let index = 0; index < labLeaseCount; index += 1) {
    const place = labLeaseAt(index);
    if (!(await clearDead(place.containers.lab))) continue;
    const labels = markLab({ folder, loops: rangeOf(place), tools });
    const lease = { ...place, folder, labels };
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

/** Containers, loop devices and folder of a run are gone when this resolves. */
export async function releaseLabLease(lease: LabLease, tools: string): Promise<void> {
  const { folder } = lease;
  const containers = await list('container', [`${label.state}=${folder}`]);
  await removeLab({ containers, folder, loops: rangeOf(lease), tools });
}

type Place = Pick<LabLease, 'containers' | 'loops'>;

const rangeOf = ({ loops }: Place): { readonly first: number; readonly count: number } => ({
  first: loops.victim,
  count: loopsPerLease,
});

export function labLeaseAt(index: number): Place {
  const name = (what: string): string => `fd-two-kernels-${index}-${what}`;
  const loop = firstLoop + index * loopsPerLease;
  return {
    containers: {
      ...{ lab: name('lab'), array: name('array') },
      ...{ victim: name('victim'), successor: name('successor') },
    },
    loops: { victim: loop, successor: loop + 1, audit: loop + 2 },
  };
}

/** Removes a dead run's lab. False where something has the name that is not a dead run's. */
export async function clearDead(container: string): Promise<boolean> {
  const named = (await inspect('container', [container])) as MarkedContainer[];
  if (named.length === 0) return true;
  const [lab] = labsOf(named);
  if (lab === undefined || whyLabStays(lab) !== undefined) return false;
  const containers = await list('container', [`${label.state}=${lab.folder}`]);
  await removeLab({ ...lab, containers });
  return true;
}
