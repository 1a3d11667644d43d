/** A bare host's container, folder and loop devices: whose they are, made, and taken away. */
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { $ } from '../../lib/kind/engine/shell.ts';
import { remove } from '../../lib/kind/engine/commands.ts';
import { tryRun } from '../../lib/kind/engine/run.ts';
import { releaseLoops, lockName, markLab } from '../../lib/kind/ownership/labs.ts';
import { InfrastructureError } from '../../lib/core/errors.ts';
import { takeFreeLock, type Lock } from '../../lib/core/owner.ts';
import { ensureMachineLoops } from '../support/machine-loops.ts';

const appRoot = resolve(import.meta.dirname, '../..');
/** Where the lab sees the shared folder; the auditor looks for copies in it. */
export const shared = '/var/lib/forcedetach';
/** Far above all leases (lib/kind/ownership/lease.ts), so that clusters beside the test don't matter. */
export const testLoops: HostLoops = { a: 5100, b: 5101, audit: 5102 };

/** Numbers of the loop devices of a host: the two nodes' and the audit's. */
export interface HostLoops {
  readonly a: number;
  readonly b: number;
  readonly audit: number;
}

/** What is missing for a bare host on this machine, if anything is. */
export async function missingForBareHost(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'needs root';
  const { exitCode } = await $`docker version`.quiet().nothrow();
  return exitCode === 0 ? undefined : 'needs a Docker engine that answers';
}

/** Two hosts with the same loops would detach each other's devices. */
export function lockLoops(loops: HostLoops): Promise<Lock> {
  return takeFreeLock(lockName(rangeOf(loops)), `process ${process.pid}`, (other) => {
    const hint = 'one such test or bench at a time: wait for that one to end';
    return new InfrastructureError('LOOPS_BUSY', `${other} has the test's loops`, { hint });
  });
}

const rangeOf = ({ a, audit }: HostLoops): { readonly first: number; readonly count: number } => ({
  first: a,
  count: audit - a + 1,
});

/** The same for each host with these loops: what one left is known by it, with a container or not. */
export const containerFor = ({ a }: HostLoops): string => `forcedetach-bare-${a}`;
const folderFor = (loops: HostLoops): string => join(tmpdir(), containerFor(loops));

/**
 * Takes away what the host with these loops made, also where that was killed: only who has the lock
 * may call it. Throws `LOOPS_BUSY` where a device stays.
 */
export async function removeHost(loops: HostLoops, tools: string): Promise<void> {
  const folder = folderFor(loops);
  await tryRun(remove(containerFor(loops)));
  const left = await releaseLoops({
    loops: rangeOf(loops),
    holdsLease: true,
    volume: folder,
    tools,
  });
  rmSync(folder, { recursive: true, force: true });
  if (left.length === 0) return;
  throw new InfrastructureError('LOOPS_BUSY', left.join('; '), { command: 'losetup --list' });
}

/** Resolves to the folder that the container shares with this machine. */
export async function startContainer(loops: HostLoops, tools: string): Promise<string> {
  await removeHost(loops, tools);
  // A kubelet beside it must not be given one of these.
  await ensureMachineLoops(tools);
  const folder = folderFor(loops);
  mkdirSync(join(folder, 'copies'), { recursive: true });
  const flags = [
    ...['--detach', '--init', '--name', containerFor(loops)],
    ...markLab({ folder, loops: rangeOf(loops), tools }),
    ...['--privileged', '--network', 'none', '--entrypoint', 'sh'],
    ...['--volume', `${folder}:${shared}`, '--volume', `${appRoot}:/app:ro`],
  ];
  const main = 'mount -t devtmpfs devtmpfs /dev && exec sleep infinity';
  await $`docker run ${flags} ${tools} -c ${main}`.quiet();
  return folder;
}
