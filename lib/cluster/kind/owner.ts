/**
 * Who made a thing: a process, told from any later one with the same number. A start after a crash
 * asks this to know what is left over.
 */
import { readFileSync, readlinkSync } from 'node:fs';

export interface Owner {
  readonly pid: number;
  /** Start of the process in clock ticks since boot (/proc/PID/stat, field 22). */
  readonly startTicks: string;
  readonly bootId: string;
  /** The process namespace in which `pid` means something. */
  readonly pidNamespace: string;
}

/** `unknown`: the owner lives in another process namespace, so nothing can be said. */
export type OwnerState = 'alive' | 'dead' | 'unknown';

/** What is asked of the machine; replaced in tests. */
export interface ProcessTable {
  bootId(): string;
  pidNamespace(): string;
  /** Start ticks of a living process, or undefined when there is none with this number. */
  startTicks(pid: number): string | undefined;
}

export const machineProcesses: ProcessTable = {
  bootId: () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
  pidNamespace: () => readlinkSync('/proc/self/ns/pid'),
  startTicks(pid) {
    try {
      return startTicksOf(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return undefined;
    }
  },
};

/** Field 22 of /proc/PID/stat; the name in field 2 may hold blanks and parentheses. */
export function startTicksOf(stat: string): string | undefined {
  const afterName = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = afterName[0];
  // A zombie holds its number but owns nothing any more.
  return state === 'Z' || state === 'X' ? undefined : afterName[19];
}

export function currentOwner(processes: ProcessTable = machineProcesses): Owner {
  return {
    pid: process.pid,
    startTicks: processes.startTicks(process.pid) ?? '',
    bootId: processes.bootId(),
    pidNamespace: processes.pidNamespace(),
  };
}

export function ownerState(owner: Owner, processes: ProcessTable = machineProcesses): OwnerState {
  if (owner.bootId !== processes.bootId()) return 'dead';
  if (owner.pidNamespace !== processes.pidNamespace()) return 'unknown';
  return processes.startTicks(owner.pid) === owner.startTicks ? 'alive' : 'dead';
}

/** As a label's value. */
export const encodeOwner = (owner: Owner): string =>
  [owner.pid, owner.startTicks, owner.bootId, owner.pidNamespace].join(' ');

export function decodeOwner(label: string): Owner | undefined {
  const [pid, startTicks, bootId, pidNamespace] = label.split(' ');
  if (!pid || !startTicks || !bootId || !pidNamespace) return undefined;
  return { pid: Number(pid), startTicks, bootId, pidNamespace };
}
