/**
 * What one cluster may use of the machine: a lease. Its index alone decides every number, and
 * creating the Docker network with the lease's subnet takes it: the engine refuses overlaps.
 */
import { InfrastructureError, awaitLock, holderOf, type Lock, tryLock } from '../../core/index.ts';
import { mostPools } from '../../run/index.ts';

/** So many clusters fit side by side on one engine. */
export const leaseCount = 32;

/**
 * Loop devices that stay with the machine's own users. Whoever asks the kernel for any is given the lowest
 * that has nothing behind it, be it leased: as long as one of these has nothing, it is none of a lease.
 */
export const machineLoops = { first: 0, count: 128 } as const;

/** Loop devices of one lease: 24 volumes may have two attachments each. */
const loopsPerLease = 128;
const firstLeasedLoop = machineLoops.first + machineLoops.count;

export interface Lease {
  /** 0 … leaseCount − 1. */
  readonly index: number;
  /** Range of the cluster's Docker network. 172.30/16 is the last that Docker itself would hand out. */
  readonly subnet: string;
  readonly gateway: string;
  /** Of the cluster's storage network, where it has one. */
  readonly storage: { readonly subnet: string; readonly gateway: string };
  readonly podCidr: string;
  readonly serviceCidr: string;
  /** Numbers of the loop devices, `/dev/loop<first>` … `/dev/loop<first + count - 1>`. */
  readonly loops: { readonly first: number; readonly count: number };
}

export const isLeaseIndex = (index: number): boolean =>
  Number.isInteger(index) && index >= 0 && index < leaseCount;

export function leaseAt(index: number): Lease {
  if (!isLeaseIndex(index)) {
    throw new RangeError(`no lease ${index}: it must be in 0..${leaseCount - 1}`);
  }
  return {
    index,
    subnet: `172.30.${index}.0/24`,
    gateway: `172.30.${index}.1`,
    storage: { subnet: `10.${200 + index}.0.0/24`, gateway: `10.${200 + index}.0.1` },
    podCidr: `10.${100 + index}.0.0/16`,
    serviceCidr: `10.${160 + index}.0.0/16`,
    loops: { first: firstLeasedLoop + loopsPerLease * index, count: loopsPerLease },
  };
}

/** What the driver may use of a lease's loop devices, as it reads them: `128-247`. */
export const driverLoopsOf = ({ first, count }: Lease['loops']): string =>
  `${first}-${first + count - 1 - mostPools}`;

/** Loop device of a pool's audits, of which there is one at a time; `pool` counts from 1. */
export function auditLoopOf({ first, count }: Lease['loops'], pool: number): number {
  if (pool < 1 || pool > mostPools) throw new RangeError(`no loop device for pool ${pool}`);
  return first + count - pool;
}

/** Every lease, in the order in which they are tried. */
export const leases = (): Lease[] =>
  Array.from({ length: leaseCount }, (_, index) => leaseAt(index));

/** Held while a process works on the lease's cluster; a kept one has nobody's between two runs. */
export class LeaseHold {
  readonly #holder: string;
  #index: number | undefined;
  #lock: Lock | undefined;

  constructor(holder: string) {
    this.#holder = holder;
  }

  /** Whether nobody else has this one; what was held before is free again. Never waits. */
  async take(index: number): Promise<boolean> {
    if (this.#index === index) return true;
    await this.release();
    this.#lock = tryLock(`lease/${index}`, this.#holder);
    if (this.#lock === undefined) return false;
    this.#index = index;
    return true;
  }

  /** Idempotent. */
  async release(): Promise<void> {
    this.#index = undefined;
    await this.#lock?.release();
    this.#lock = undefined;
  }
}

const lockName = (cluster: string): string => `cluster/${cluster}`;

/** What a holder's name ends with that will soon be done. */
const removes = ', which removes it';
/** So long a removal takes at the most on a machine that makes three clusters beside it: 5 to 20 s is usual. */
const removalMs = 120_000;
const lookEveryMs = 2000;

export interface Waiting {
  /** Default: nobody is told. */
  readonly onProgress?: (line: string) => void;
  /** For who removes what a dead run left of it. Default: 120 000. */
  readonly patienceMs?: number;
}

/**
 * One run at a time on a cluster; a removal has its lock, too. Throws InfrastructureError `CLUSTER_BUSY` when
 * another run has it, or a removal does not end.
 */
export async function lockCluster(
  cluster: string,
  runId: string,
  { onProgress = () => undefined, patienceMs = removalMs }: Waiting = {},
): Promise<Lock> {
  const name = lockName(cluster);
  for (let leftMs = patienceMs; ; leftMs -= lookEveryMs) {
    const lock = await awaitLock(name, `run ${runId}, process ${process.pid}`, lookEveryMs);
    if (lock !== undefined) return lock;
    const other = holderOf(name);
    if (leftMs <= 0 || !other.endsWith(removes)) throw busy(cluster, other);
    if (leftMs === patienceMs) onProgress(`waiting for ${other} to release the cluster ${cluster}`);
  }
}

/** Names have at most 30 characters. */
const secondName = (cluster: string): string => `${cluster.slice(0, 28)}-2`;

function busy(cluster: string, other: string): InfrastructureError {
  const what = `${other} is using the cluster \`${cluster}\``;
  const hint = 'wait until it ends, or use another cluster';
  return new InfrastructureError('CLUSTER_BUSY', what, {
    hint,
    again: ['--cluster-name', secondName(cluster)],
  });
}

/**
 * For the removal of what is left over. Who has it, where somebody has it for longer than
 * `patienceMs`: every start looks at every cluster, and has its lock meanwhile.
 */
export async function lockToRemove(cluster: string, patienceMs: number): Promise<Lock | string> {
  const name = lockName(cluster);
  return (await awaitLock(name, `process ${process.pid}${removes}`, patienceMs)) ?? holderOf(name);
}
