/** Reads what was added to the driver's call logs since the last look. */
import { open, readdir } from 'node:fs/promises';
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
  async skip(): Promise<void> {
    for (const path of await this.#logs()) this.#offsets.set(path, await sizeOf(path));
  }

  /** Calls that ended since, in the order in which they came in. */
  async read(): Promise<CallEntry[]> {
    const entries: CallEntry[] = [];
    for (const path of await this.#logs()) entries.push(...(await this.#tail(path)));
    return entries.toSorted((a, b) => a.monoMs - b.monoMs);
  }

  async #logs(): Promise<string[]> {
    const names = await readdir(this.#layout.log).catch(() => []);
    return names
      .filter((name) => /^csi-.*\.jsonl$/.test(name))
      .map((name) => join(this.#layout.log, name));
  }

  /** Whole lines only; the rest of a line is read when it is there. */
  async #tail(path: string): Promise<CallEntry[]> {
    const from = this.#offsets.get(path) ?? 0;
    await using file = await open(path);
    const { size } = await file.stat();
    if (size <= from) return [];
    const { buffer } = await file.read({ buffer: Buffer.alloc(size - from), position: from });
    const end = buffer.lastIndexOf('\n') + 1;
    this.#offsets.set(path, from + end);
    const lines = buffer.toString('utf8', 0, end).split('\n');
    return lines.filter((line) => line !== '').map((line) => callSchema.parse(JSON.parse(line)));
  }
}

async function sizeOf(path: string): Promise<number> {
  await using file = await open(path);
  return (await file.stat()).size;
}
