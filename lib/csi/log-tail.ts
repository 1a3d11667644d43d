/**
 * Reads what was added to the driver's call logs since the last look. Synchronous: it looks ten times
 * a second, and mostly a log's size is all there is to know.
 */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type CallEntry, callSchema } from './call-log.ts';
import type { Layout } from './layout.ts';

export class LogTail {
  readonly #layout: Layout;
  /** How far each call log was read. */
  readonly #offsets = new Map<string, number>();

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  /** What was logged before belongs to others. */
  skip(): void {
    for (const path of this.#logs()) this.#offsets.set(path, statSync(path).size);
  }

  /** Calls that ended since, in the order in which they came in. */
  read(): CallEntry[] {
    return this.#logs()
      .flatMap((path) => this.#tail(path))
      .toSorted((a, b) => a.monoMs - b.monoMs);
  }

  /** None before the first node has one. */
  #logs(): string[] {
    return namesIn(this.#layout.log)
      .filter((name) => /^csi-.*\.jsonl$/.test(name))
      .map((name) => join(this.#layout.log, name));
  }

  /** Whole lines only; the rest of a line is read when it is there. */
  #tail(path: string): CallEntry[] {
    const from = this.#offsets.get(path) ?? 0;
    const { size } = statSync(path);
    if (size <= from) return [];
    const buffer = readFrom(path, from, size - from);
    const end = buffer.lastIndexOf('\n') + 1;
    this.#offsets.set(path, from + end);
    const lines = buffer.toString('utf8', 0, end).split('\n');
    return lines.filter((line) => line !== '').map((line) => callSchema.parse(JSON.parse(line)));
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readFrom(path: string, from: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  const file = openSync(path, 'r');
  try {
    return buffer.subarray(0, readSync(file, buffer, 0, bytes, from));
  } finally {
    closeSync(file);
  }
}
