import { expect, test } from 'vitest';
import type { SmallRecord } from '../history/reader.ts';
import { observed, type ObservedName } from '../history/observations.ts';
import { describeRecreations, recreation, recreationsOf } from './recreations.ts';

const step = (t: number, name: string, which: 'begin' | 'done', uid: string): SmallRecord => ({
  ...{ type: 'action', actor: 'runner', node: 'a', t, name, step: which, detail: uid },
});
const seen = (t: number, name: ObservedName, data: Record<string, unknown> = {}): SmallRecord => ({
  ...{ type: 'observation', source: 'api', node: 'a', t, name, data },
});

const records: SmallRecord[] = [
  step(1_000, recreation.plain, 'begin', 'u1'),
  seen(3_000, observed.podGone, { uid: 'u1' }),
  seen(3_500, observed.attachmentGone),
  seen(9_000, observed.podReady, { uid: 'u2', ready: true }),
  step(9_100, recreation.plain, 'done', 'u1'),
  step(10_000, recreation.forced, 'begin', 'u2'),
  seen(10_100, observed.podGone, { uid: 'u2' }),
  seen(11_000, observed.podReady, { uid: 'u3', ready: true }),
  step(11_100, recreation.forced, 'done', 'u2'),
  step(12_000, recreation.plain, 'begin', 'u3'),
];

test('each deletion until the next pod is Ready; one without an end is left out', () => {
  expect(recreationsOf(records)).toEqual([
    { forced: false, readyAfterMs: 8_000, goneAfterMs: 2_000, detached: true },
    { forced: true, readyAfterMs: 1_000, goneAfterMs: 100, detached: false },
  ]);
});

test('told by kind of deletion', () => {
  expect(describeRecreations(recreationsOf(records))).toEqual([
    '1 pod deleted as usual: Ready after 8.0 to 8.0 s, median 8.0 s, detached in between in 1; ' +
      '5 to 10 s: 1',
    '1 pod deleted by force: Ready after 1.0 to 1.0 s, median 1.0 s, detached in between in 0; ' +
      '0 to 2 s: 1',
  ]);
  expect(describeRecreations([])).toEqual([]);
});
