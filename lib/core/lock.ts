/**
 * A lock on a name, among the processes of one user: an fcntl lock of the kernel, taken through
 * SQLite, the one way to it that Node has. The kernel takes it back when the process ends, however it
 * ends; a process that stands still keeps it, and makes nobody wait who asks. The files lie in a
 * folder of mode 0700: no other user can take a name, or say who has it.
 */
import { closeSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { privateFolder, stateHome } from './state-home.ts';

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
