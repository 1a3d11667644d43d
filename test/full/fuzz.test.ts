/** Strange inputs in number, other ones each time; the seed is told. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { fuzz } from '../fuzz/suite.ts';

test('twenty thousand strange inputs: no stack trace, no hang, no wrong exit code', async () => {
  const seed = process.env['FORCEDETACH_SEED'] ?? randomBytes(4).toString('hex');
  const onProgress = (line: string): void => console.log(`fuzz, seed ${seed}: ${line}`);
  const result = await fuzz({ seed, cases: 20_000, spawnEvery: 100, onProgress });
  expect(result.failures, `FORCEDETACH_SEED=${seed}`).toEqual([]);
});
