/** The store: a newer line takes the place of the older, each kind reads its own, and what is no line is refused. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import {
  allLines,
  lineSchema,
  linesOf,
  noteLines,
  versionsOf,
  type StoredLine,
} from './measurements.ts';

function emptyStore(): URL {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-store-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return pathToFileURL(join(folder, 'measurements.jsonl'));
}

const line = (changes: Partial<StoredLine> = {}): StoredLine => ({
  ...{ kind: 'walk', id: 'a', scenario: {}, seed: '1', outcome: { steps: 1 } },
  ...{ basis: 'measured', versions: {}, source: 'here', date: null },
  ...changes,
});
const walk = lineSchema.extend({
  kind: z.literal('walk'),
  outcome: z.strictObject({ steps: z.number() }),
});

test('a newer line takes the place of the older of its kind; the order is by where it is from', () => {
  const store = emptyStore();
  noteLines([line({ source: 'there' }), line({ id: 'b' }), line({ kind: 'run' })], store);
  const newer = line({ outcome: { steps: 2 } });
  noteLines([newer], store);
  expect(allLines(store)).toEqual([line({ kind: 'run' }), newer, line({ id: 'b' })]);
  expect(linesOf(walk, store)).toEqual([newer, line({ id: 'b' })]);
  noteLines([], store);
  expect(readFileSync(store, 'utf8').split('\n')).toHaveLength(4);
});

test('what is no line is not noted, and a line of another shape is not read', () => {
  const store = emptyStore();
  const { source: _, ...lacking } = line();
  expect(() => noteLines([lacking as StoredLine], store)).toThrow(/source/);
  expect(() => noteLines([{ ...line(), verdict: 'safe' } as StoredLine], store)).toThrow(/verdict/);
  // What a model foretold is none.
  expect(() =>
    noteLines([{ ...line(), basis: 'predicted' } as unknown as StoredLine], store),
  ).toThrow(/basis/);
  noteLines([line({ outcome: {} })], store);
  expect(() => linesOf(walk, store)).toThrow(/steps/);
});

test('of a run’s versions those are kept that results may hang on', () => {
  const recorded = { kubernetes: '1.37.2', mysql: 'mysqld  Ver 9.7.4-2 for Linux', kernel: '6.18' };
  expect(versionsOf(recorded)).toEqual({ kubernetes: '1.37.2', mysql: '9.7.4' });
});
