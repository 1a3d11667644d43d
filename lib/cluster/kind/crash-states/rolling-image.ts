/**
 * The volume as flushed writes made it, moved on along the log of writes; from it, the image of any
 * moment that is not behind it already.
 */
import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import type { PlannedState } from '../../../crash-states/plan-states.ts';
import { SectorVersions, type ByteRange } from '../../../crash-states/sector-versions.ts';
import { survivors, type Survivor } from '../../../crash-states/survivors.ts';
import { VolatileCache } from '../../../crash-states/volatile-cache.ts';
import { EvidenceError } from '../../../errors.ts';
import { writeOps, type WriteRecord } from '../../../history/writes.ts';
import { randomStream } from '../../../random.ts';
import { mustRun } from '../../../database/audit/command.ts';
import type { KeptWrites } from '../../../crash-states/run-facts.ts';
import type { Recovered } from '../../../crash-states/recovery.ts';

/** The data of the writes are unpacked. */
export interface RollingImageOptions extends KeptWrites {
  /** Where the image goes; it must not be there yet. A sparse file system saves memory. */
  readonly path: string;
  /** What unflushed writes become is drawn from it. */
  readonly seed: string;
  readonly signal: AbortSignal;
}

export type BuiltState = Omit<Recovered, 'evidence'>;

const copyTimeoutMs = 300_000;

export class RollingImage implements Disposable {
  readonly #options: RollingImageOptions;
  readonly #cache: VolatileCache;
  readonly #versions = new SectorVersions();
  readonly #data: number;
  readonly #image: number;

  constructor(options: RollingImageOptions) {
    const { log, dataPath, path } = options;
    this.#options = options;
    this.#cache = new VolatileCache(log);
    this.#data = openSync(dataPath, 'r');
    this.#image = openSync(path, 'wx');
    ftruncateSync(this.#image, log.sizeBytes);
  }

  /** Writes the image of that state to a new file. Positions must never go back. */
  async build({ position, policy }: PlannedState, to: string): Promise<BuiltState> {
    const { log, path, seed, signal } = this.#options;
    for (const index of this.#cache.advance(position)) {
      const { offset, length } = log.at(index);
      const parts = this.#versions.claim(index, { offset, length });
      this.#write(this.#image, path, index, parts);
    }
    await mustRun(['cp', '--sparse=auto', path, to], { timeoutMs: copyTimeoutMs, signal });
    const unflushed = this.#cache.unflushed();
    const random = randomStream(seed).stream(`${policy}/${position}`);
    const survived = survivors(policy, log, unflushed, random);
    this.#overlay(to, survived);
    return { unflushed: unflushed.length, survived: survived.length };
  }

  [Symbol.dispose](): void {
    closeSync(this.#image);
    closeSync(this.#data);
  }

  #overlay(path: string, survived: readonly Survivor[]): void {
    const file = openSync(path, 'r+');
    try {
      for (const { index, length } of survived) {
        const { offset } = this.#options.log.at(index);
        this.#write(file, path, index, this.#versions.unclaimed(index, { offset, length }));
      }
    } finally {
      closeSync(file);
    }
  }

  /** Puts these parts of the write into the file. */
  #write(file: number, path: string, index: number, parts: readonly ByteRange[]): void {
    const record = this.#options.log.at(index);
    for (const part of parts) {
      if (record.op === writeOps.zero) punchHole(path, part);
      else writeAll(file, this.#read(index, record, part), part.offset);
    }
  }

  #read(index: number, { offset, dataOffset }: WriteRecord, part: ByteRange): Buffer {
    const bytes = Buffer.allocUnsafe(part.length);
    const from = dataOffset === undefined ? undefined : dataOffset + part.offset - offset;
    if (from === undefined || readSync(this.#data, bytes, 0, part.length, from) < part.length) {
      throw new EvidenceError('WRITES_DAMAGED', `the data of write ${index} is missing`, {
        hint: 'the run needs --keep-writes and an orderly end',
      });
    }
    return bytes;
  }
}

/** Node can't, util-linux can. A disk zeroes rarely: mkfs, and lazily made inode tables. */
function punchHole(path: string, { offset, length }: ByteRange): void {
  const range = ['--offset', String(offset), '--length', String(length)];
  execFileSync('fallocate', ['--punch-hole', ...range, path]);
}

function writeAll(file: number, bytes: Buffer, offset: number): void {
  for (let at = 0; at < bytes.length; ) {
    at += writeSync(file, bytes, at, bytes.length - at, offset + at);
  }
}
