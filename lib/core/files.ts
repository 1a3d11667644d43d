/**
 * Reads what people and other processes left, and writes what they read: whole or not at all. A pipe, a
 * device or a folder in a file's place is refused instead of waited for, and nothing larger than was
 * stated comes into memory.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  type Dirent,
  fsyncSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { UsageError } from './errors.ts';

export const mebibyte = 1024 * 1024;

/** Limit for files that people write, or that a run leaves for them. */
export const textFileBytes = 64 * mebibyte;

/**
 * Throws UsageError `FILE_UNREADABLE`, `FILE_NOT_REGULAR` or `FILE_TOO_LARGE`. `mostBytes`: default
 * 64 MiB.
 */
export function readInput(path: string | URL, mostBytes: number = textFileBytes): Buffer {
  const file = openInput(path);
  try {
    const { size } = fstatSync(file);
    if (size > mostBytes) throw tooLarge(path, mostBytes);
    return readUpTo(file, path, size, mostBytes);
  } finally {
    closeSync(file);
  }
}

export const readText = (path: string | URL, mostBytes?: number): string =>
  readInput(path, mostBytes).toString('utf8');

/** A descriptor of the regular file, to be closed. Throws as `readInput` does. */
export function openInput(path: string | URL): number {
  const file = opened(path);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new UsageError('FILE_NOT_REGULAR', `${String(path)} is not a regular file`, {
    hint: 'give a file, not a folder, pipe or device',
  });
}

function opened(path: string | URL): number {
  try {
    // Without it the opening of a pipe waits for somebody who writes.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new UsageError('FILE_UNREADABLE', `cannot read ${String(path)}`, {
      hint: 'give an existing file that you may read',
      cause,
    });
  }
}

/** The size is only what the file system says: it may grow, and files of /proc say 0. */
function readUpTo(file: number, path: string | URL, sizeBytes: number, mostBytes: number): Buffer {
  const parts: Buffer[] = [];
  let total = 0;
  for (;;) {
    const part = Buffer.allocUnsafe(total === 0 ? sizeBytes + 1 : 64 * 1024);
    const length = readSync(file, part, 0, part.length, null);
    if (length === 0) break;
    total += length;
    if (total > mostBytes) throw tooLarge(path, mostBytes);
    parts.push(part.subarray(0, length));
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
}

/** In parts: a log of writes may be larger than memory. Throws as `readInput` does. */
export function sha256OfFile(path: string): string {
  const hash = createHash('sha256');
  const part = Buffer.allocUnsafe(mebibyte);
  const file = openInput(path);
  try {
    for (let length = -1; length !== 0; ) {
      length = readSync(file, part, 0, part.length, null);
      hash.update(part.subarray(0, length));
    }
    return hash.digest('hex');
  } finally {
    closeSync(file);
  }
}

/** SHA-256 of all but its own seal; the order of the keys does not matter. */
export const sealOf = (batch: object): string =>
  createHash('sha256')
    .update(JSON.stringify({ ...batch, seal: undefined }, (_, value: unknown) => inOrder(value)))
    .digest('hex');

const inOrder = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const tooLarge = (path: string | URL, mostBytes: number): UsageError =>
  new UsageError(
    'FILE_TOO_LARGE',
    `${String(path)} is larger than ${Math.floor(mostBytes / mebibyte)} MiB`,
    { hint: 'give another file: forcedetach writes none of this size' },
  );

/** What is in the folder. Throws UsageError `FOLDER_UNREADABLE`. */
export function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (cause) {
    throw new UsageError('FOLDER_UNREADABLE', `cannot read ${path}`, {
      hint: 'give an existing folder',
      cause,
    });
  }
}

/** Collected before it is written, characters. */
const chunkLength = 256 * 1024;

/**
 * Written beside and renamed: a full disk or a kill leaves the old content where it was. Disposed of
 * before `commit`, it leaves what was there.
 */
export class OutputFile implements Disposable {
  readonly path: string;
  readonly #beside: string;
  readonly #file: number;
  #waiting = '';
  #isOpen = true;

  constructor(path: string | URL) {
    this.path = path instanceof URL ? fileURLToPath(path) : path;
    this.#beside = `${this.path}.new`;
    this.#file = openSync(this.#beside, 'w');
  }

  add(text: string): void {
    this.#waiting += text;
    if (this.#waiting.length > chunkLength) this.#write();
  }

  /** Throws what the file system says. */
  commit(): void {
    this.#write();
    // Some file systems say only now that there is no room.
    fsyncSync(this.#file);
    this.#close();
    renameSync(this.#beside, this.path);
  }

  [Symbol.dispose](): void {
    if (!this.#isOpen) return;
    this.#close();
    rmSync(this.#beside, { force: true });
  }

  #write(): void {
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = '';
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
  }

  #close(): void {
    this.#isOpen = false;
    closeSync(this.#file);
  }
}

/** Throws what the file system says; the file is then as it was before. */
export function writeOutput(path: string | URL, content: string): void {
  using file = new OutputFile(path);
  file.add(content);
  file.commit();
}
