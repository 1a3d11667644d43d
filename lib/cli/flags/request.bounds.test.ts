/** Every count and every time of a command line has an end. */
import { expect, test } from 'vitest';
import { UsageError } from '../../core/errors.ts';
import { parseMatrix } from '../../batch/matrix.ts';
import { cellsOf } from '../../batch/cells.ts';
import { readFlags } from '../../../test/support/read-flags.ts';
import { requestOf } from './request.ts';

function codeOf(ask: () => unknown): string {
  try {
    ask();
  } catch (error) {
    if (error instanceof UsageError) return error.code;
    throw error;
  }
  return 'taken';
}

const experiment = { name: 'node-crash', question: 'What?', fault: 'node-crash' } as const;
const run = (text: string): string =>
  codeOf(() =>
    requestOf({ ...experiment, expected: ['safe'] }, readFlags(text.split(' ')), new Date(0)),
  );

test.each([
  ['--termination-grace 499ms', 'BAD_FLAG'],
  ['--termination-grace 0', 'taken'],
  ['--grace 0', 'BAD_FLAG'],
  ['--force-detach-after 0', 'BAD_FLAG'],
  ['--force-detach-after 0.4ms', 'BAD_FLAG'],
  ['--horizon 0', 'BAD_FLAG'],
  ['--horizon 24h', 'taken'],
  ['--horizon 25h', 'BAD_FLAG'],
  ['--overlap 30d', 'BAD_FLAG'],
  ['--remedy-at 600h', 'BAD_FLAG'],
  ['--workers 100000000000000000000000', 'BAD_FLAG'],
  ['--workers 301', 'BAD_FLAG'],
  ['--rate 0.00001', 'SCENARIO_INVALID'],
  ['--connections 999', 'BAD_FLAG'],
  ['--recreations 1000000', 'BAD_FLAG'],
  ['--prototype', 'BAD_FLAG'],
])('%s: %s', (flags, code) => {
  expect(run(flags)).toBe(code);
});

test('a matrix of nine million cells is refused before one is made', () => {
  const values = (most: number): string =>
    Array.from({ length: most }, (_, n) => 1000 + n).join(', ');
  const text = `
name: large
question: How many?
base: {fault: node-crash}
axes:
  graceMs: [${values(3000)}]
  warmupMs: [${values(3000)}]
`;
  const matrix = parseMatrix(text, 'large.yaml');
  const startedMs = performance.now();
  expect(codeOf(() => cellsOf(matrix))).toBe('MATRIX_TOO_LARGE');
  expect(performance.now() - startedMs).toBeLessThan(100);
});

test('an axis cannot vanish by its name', () => {
  const text = 'name: a\nquestion: b\naxes: {__proto__: {x: {fault: node-crash}}}';
  expect(codeOf(() => parseMatrix(text, 'a.yaml'))).toBe('MATRIX_INVALID');
});
