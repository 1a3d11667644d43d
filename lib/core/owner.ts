/** Who made a thing, and who has a name: processes of one user, told apart across hosts, boots and namespaces. */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  linkSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
  closeSync,
  openSync,
  readSync,
} from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from './errors.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** `$XDG_STATE_HOME/forcedetach`. Cluster names begin with a letter or a digit, its own files with a dot. */
export const stateHome = (env: Env = process.env): string =>
  join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'forcedetach');

/**
 * Makes the folder, or takes it where it is there, so that nobody else may look into it or write.
 * Throws InfrastructureError `STATE_FOLDER` where it is another user's, or no folder.
 */
export function privateFolder(path: string): string {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const found = lstatSync(path);
    if (!found.isDirectory()) throw new Error('it is not a folder');
    if (found.uid !== process.getuid?.()) throw new Error('it belongs to another user');
    if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700);
    return path;
  } catch (cause) {
    throw new InfrastructureError('STATE_FOLDER', `${path} cannot be used`, {
      hint: 'set XDG_STATE_HOME to a folder of your own, or correct the owner of this one',
      command: `ls -ld ${path}`,
      cause,
    });
  }
}

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

/**
 * A lock on a name, among the processes of one user: an fcntl lock of the kernel, taken through
 * SQLite, the one way to it that Node has. The kernel takes it back when the process ends, however it
 * ends; a process that stands still keeps it, and makes nobody wait who asks. The files lie in a
 * folder of mode 0700: no other user can take a name, or say who has it.
 */
export interface Lock {
  /** Idempotent. */
  release(): Promise<void>;
}

/** SQLITE_BUSY of sqlite3.h. */
const busyCode = 5;
/** Bytes read of what a holder says of itself. */
const holderBytes = 200;
/** One that only looks whether a name is free has it for a moment. */
const patienceMs = 2000;
const everyMs = 100;

const filesOf = (name: string): { readonly lock: string; readonly holder: string } => {
  const base = join(privateFolder(join(stateHome(), '.locks')), encodeURIComponent(name));
  return { lock: `${base}.lock`, holder: `${base}.holder` };
};

/** `holder` says who has it. Undefined where another has it, in this process too. Never waits. */
export function tryLock(name: string, holder: string): Lock | undefined {
  const files = filesOf(name);
  const database = new DatabaseSync(files.lock, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
  writeFileSync(files.holder, holder, { mode: 0o600 });
  let isHeld = true;
  return {
    release(): Promise<void> {
      if (isHeld) {
        isHeld = false;
        rmSync(files.holder, { force: true });
        // The file itself stays: whoever waits for it must find the same one.
        database.close();
      }
      return Promise.resolve();
    },
  };
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && error.errcode === busyCode;

/** Tries as `tryLock` does, until another has kept it for `waitMs`; then undefined. */
export async function awaitLock(
  name: string,
  holder: string,
  waitMs: number,
): Promise<Lock | undefined> {
  for (let leftMs = waitMs; ; leftMs -= everyMs) {
    const lock = tryLock(name, holder);
    if (lock !== undefined || leftMs <= 0) return lock;
    await sleep(everyMs);
  }
}

/** Takes it as `tryLock` does; where another keeps it, throws what `refusal` makes of that one's name. */
export async function takeFreeLock(
  name: string,
  holder: string,
  refusal: (other: string) => Error,
): Promise<Lock> {
  const lock = await awaitLock(name, holder, patienceMs);
  if (lock === undefined) throw refusal(holderOf(name));
  return lock;
}

/** Who has the lock, in letters that a terminal shows as they are. */
export function holderOf(name: string): string {
  const bytes = Buffer.alloc(holderBytes);
  try {
    const file = openSync(filesOf(name).holder, 'r');
    try {
      const count = readSync(file, bytes, 0, holderBytes, 0);
      const said = bytes.toString('latin1', 0, count).replaceAll(/[^\x20-\x7e]/g, '?');
      if (said !== '') return said;
    } finally {
      closeSync(file);
    }
  } catch {
    // It has not said so yet.
  }
  return 'another process';
}
