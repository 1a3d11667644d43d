/** No command changes what git holds unless it is told to. */
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';

const quiet = $({ nothrow: true, quiet: true });
const run = 'reports/samples/node-crash';

/** When each of them was written last: the same bytes written again would be a change, too. */
const writtenMs = (): number[] =>
  ['data/measurements.jsonl', 'docs/reference/claims.md'].map((file) => statSync(file).mtimeMs);

test.each([
  ['bin/forcedetach.mjs', ['expectations', run]],
  ['bin/forcedetach.mjs', ['expectations']],
  ['research/false-alarms.mjs', [run]],
  ['research/claims.mjs', ['--run', run]],
])('%s %j only tells', async (program, words) => {
  const before = writtenMs();
  const { stdout } = await quiet`node_modules/.bin/zx ${program} ${words}`;
  expect(stdout.trim()).not.toBe('');
  expect(writtenMs()).toEqual(before);
});
