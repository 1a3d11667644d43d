/** Images against the plain definition: what was flushed is there, what came later never is. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { survivors, VolatileCache } from '../../run/crash-states/plan-states.ts';
import { powerLosses } from '../../scenario/disk-kinds.ts';
import { writeOps, type WriteLog } from '../../history/writes.ts';
import { randomStream } from '../../core/random.ts';
import { changesImage, drawnWrites, isDurable } from '../../../test/support/memory-writes.ts';
import { RollingImage } from './container-recovery.ts';

const { signal } = new AbortController();
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-rolling-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Each write's bytes are its index + 1; 40 writes of 4096 bytes at most. */
const dataBytes = Buffer.concat(Array.from({ length: 40 }, (_, n) => Buffer.alloc(4096, n + 1)));

/** By sector: the youngest of the writes that are on the image, as far as each is there. */
function expected(log: WriteLog, position: number, kept: ReadonlyMap<number, number>): Buffer {
  const image = Buffer.alloc(log.sizeBytes);
  for (let index = 0; index <= position; index += 1) {
    if (!changesImage(log, index)) continue;
    const { offset, length, op } = log.at(index);
    const there = isDurable(log, index, position) ? length : (kept.get(index) ?? 0);
    image.fill(op === writeOps.zero ? 0 : index + 1, offset, offset + there);
  }
  return image;
}

const wanted = fc.record({
  policy: fc.constantFrom(...powerLosses),
  position: fc.nat({ max: 39 }),
});

test('an image is what was flushed by then and what survived of the rest', async () => {
  const dataPath = join(folder, 'data');
  writeFileSync(dataPath, dataBytes);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(
      drawnWrites,
      fc.array(wanted, { minLength: 1, maxLength: 4 }),
      async (log, all) => {
        const states = all
          .filter(({ position }) => position < log.length)
          .toSorted((a, b) => a.position - b.position);
        const path = join(folder, `image-${(run += 1)}`);
        using rolling = new RollingImage({ log, dataPath, path, seed: 's', signal });
        for (const { position, policy } of states) {
          const state = { number: 1, position, atMs: 0, policy, drawn: 'anywhere' as const };
          const built = await rolling.build(state, join(folder, 'state'));
          const cache = new VolatileCache(log);
          cache.advance(position);
          const random = randomStream('s').stream(`${policy}/${position}`);
          const kept = survivors(policy, log, cache.unflushed(), random);
          expect(built).toEqual({ unflushed: cache.unflushed().length, survived: kept.length });
          const lengths = new Map(kept.map(({ index, length }) => [index, length]));
          const image = readFileSync(join(folder, 'state'));
          expect(image.equals(expected(log, position, lengths))).toBe(true);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('data that was not kept is an error, not zeros', async () => {
  const log = {
    ...{ sizeBytes: 512, originNs: 0n, paths: [], length: 1, cut: false, atMs: () => 0 },
    at: () => ({ offset: 0, length: 512, generation: 1, op: writeOps.write, flags: 0 }),
  };
  const dataPath = join(folder, 'none');
  writeFileSync(dataPath, '');
  const path = join(folder, 'image-none');
  using rolling = new RollingImage({ log, dataPath, path, seed: 's', signal });
  const state = { number: 1, position: 0, atMs: 0, policy: 'keeps', drawn: 'anywhere' } as const;
  await expect(rolling.build(state, join(folder, 'state'))).rejects.toThrow(
    /data of write 0 is missing/,
  );
});
