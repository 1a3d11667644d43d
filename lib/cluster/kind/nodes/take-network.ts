/** Takes a lease by making its Docker network: the engine refuses one that overlaps with another. */
import * as engine from '../../../engine/commands.ts';
import { commandError, tryRun } from '../../../engine/run.ts';
import { InfrastructureError } from '../../../errors.ts';
import { leaseCount, type Lease } from '../ownership/lease.ts';
import { boundLoops } from '../disk/loops.ts';

export interface NetworkRequest {
  readonly name: string;
  /** In the order in which they are tried. */
  readonly among: readonly Lease[];
  /** Words for the engine. Default: none. */
  readonly labelsOf?: (lease: Lease) => readonly string[];
  /** Default: any whose loop devices are free. */
  readonly mayTake?: (lease: Lease) => Promise<boolean>;
  readonly signal?: AbortSignal | undefined;
}

/** The first that is free. Throws InfrastructureError `NO_LEASE` when all are taken; as the engine does. */
export async function takeNetwork({
  name,
  among,
  labelsOf = () => [],
  mayTake = () => Promise.resolve(true),
  signal,
}: NetworkRequest): Promise<Lease> {
  for (const lease of among) {
    // Networks are an engine's: another engine of this machine has the lock, or left loop devices.
    if (!(await mayTake(lease)) || (await boundLoops(lease)).length > 0) continue;
    const argv = engine.createNetwork(name, lease, labelsOf(lease));
    const result = await tryRun(argv, { signal });
    if (result.exitCode === 0) return lease;
    if (!/overlap|conflicts with network/i.test(result.stderr)) throw commandError(argv, result);
  }
  throw new InfrastructureError(
    'NO_LEASE',
    `all ${leaseCount} networks of 172.30.0.0/16, or their loop devices, are taken`,
    {
      hint: 'remove clusters or networks that you no longer need',
      command: 'npx zx experiments/clean.mjs --all',
    },
  );
}
