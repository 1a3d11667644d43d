/**
 * Who made a thing: a process, told from any later one with the same number, and from those of other
 * hosts and namespaces. A start after a crash asks this to know what is left over.
 */
import { createHash, randomBytes } from 'node:crypto';
import { linkSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { privateFolder, stateHome } from './state-home.ts';

export interface Owner {
  readonly pid: number;
  /** Start of the process in clock ticks since boot (/proc/PID/stat, field 22). */
  readonly startTicks: string;
  readonly bootId: string;
  /** The process namespace in which `pid` means something. */
  readonly pidNamespace: string;
  /** The host and the user, as far as one can be told from another. */
  readonly host: string;
}

/**
 * `unknown`: the owner lives on another host, in another process namespace or is another user's, so
 * nothing can be said.
 */
export type OwnerState = 'alive' | 'dead' | 'unknown';

/** What is asked of the machine; replaced in tests. */
export interface ProcessTable {
  bootId(): string;
  pidNamespace(): string;
  host(): string;
  /** Start ticks of a living process, or undefined when there is none with this number. */
  startTicks(pid: number): string | undefined;
}

export const machineProcesses: ProcessTable = {
  bootId: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  pidNamespace: () => readlinkSync('/proc/self/ns/pid'),
  host: () => hostOf(['/etc/machine-id', join(privateFolder(stateHome()), '.host')]),
  startTicks(pid) {
    try {
      return startTicksOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return undefined;
    }
  },
};

/**
 * Machines that were cloned share a machine-id, hosts with one home share the file in it: all must
 * agree. Whoever changes one of them is another host, whose things are left alone.
 */
function hostOf([machineId, ownFile]: readonly [string, string]): string {
  const parts = [readIfThere(machineId), hostname(), readIfThere(ownFile) ?? newId(ownFile)];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Gives both of two that begin at once the first one's. */
function newId(path: string): string {
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, randomBytes(16).toString('hex'), { mode: 0o600 });
  try {
    linkSync(beside, path);
  } catch {
    // It is there by now.
  } finally {
    rmSync(beside, { force: true });
  }
  return readFileSync(path, 'utf8').trim();
}

/** Field 22 of /proc/PID/stat; the name in field 2 may hold blanks and parentheses. */
export function startTicksOf(stat: string): string | undefined {
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = afterName[0];
  // A zombie holds its number but owns nothing any more.
  return state === 'Z' || state === 'X' ? undefined : afterName[19];
}

export const currentOwner = (processes: ProcessTable = machineProcesses): Owner => ({
  pid: process.pid,
  startTicks: processes.startTicks(process.pid) ?? '',
  bootId: processes.bootId(),
  pidNamespace: processes.pidNamespace(),
  host: processes.host(),
});

export function ownerState(owner: Owner, processes: ProcessTable = machineProcesses): OwnerState {
  if (owner.host !== processes.host()) return 'unknown';
  // Numbers of namespaces are given anew at each boot, so that they say nothing across one.
  if (owner.bootId !== processes.bootId()) return 'dead';
  if (owner.pidNamespace !== processes.pidNamespace()) return 'unknown';
  return processes.startTicks(owner.pid) === owner.startTicks ? 'alive' : 'dead';
}

/** Writes it as a label's value. */
export const encodeOwner = (owner: Owner): string =>
  [owner.pid, owner.startTicks, owner.bootId, owner.pidNamespace, owner.host].join(' ');

/** Undefined where something is missing, as in labels of before 2026-11-24: then nothing can be said. */
export function decodeOwner(label: string): Owner | undefined {
  const [pid, startTicks, bootId, pidNamespace, host] = label.split(' ');
  if (!pid || !startTicks || !bootId || !pidNamespace || !host) return undefined;
  return { pid: Number(pid), startTicks, bootId, pidNamespace, host };
}
