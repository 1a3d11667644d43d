/**
 * Writes what people and programs read later: whole or not at all. It is written beside and renamed,
 * so a full disk or a kill leaves the old content where it was.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Collected before it is written, characters. */
const chunkLength = 256 * 1024;

/** Disposed of before `commit`, it leaves what was there. */
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
