/** A sweep's folder: what can be gone on with, and what is refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { newSweep } from '../../sweep/sweep.ts';
import { begin, save, type SweepFlags } from './sweep.ts';

const flags = (seed?: string): SweepFlags => ({ seed }) as SweepFlags;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'forcedetach-sweep-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a sweep is gone on with, by its own seed or without one', () => {
  const state = { ...newSweep('one', undefined), next: 40_000 };
  save(folder, state);
  expect(begin(folder, flags())).toEqual(JSON.parse(JSON.stringify(state)));
  expect(begin(folder, flags('one')).next).toBe(40_000);
  expect(() => begin(folder, flags('two'))).toThrow(
    expect.objectContaining({ code: 'OTHER_SWEEP' }),
  );
});

test.each(['{"seed":"one","next":4000,"tally":{}}', '{"seed":', ''])(
  'the state of an earlier version, or one that was cut, is refused: %s',
  (text) => {
    writeFileSync(join(folder, 'state.json'), text);
    expect(() => begin(folder, flags())).toThrow(
      expect.objectContaining({ code: 'STATE_UNREADABLE' }),
    );
  },
);
