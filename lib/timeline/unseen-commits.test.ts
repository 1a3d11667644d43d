import { expect, test } from 'vitest';
import type { ObservationRecord } from '../history/events.ts';
import type { OutcomeRecord } from '../history/client-records.ts';
import { observed } from '../history/observations.ts';
import { unseenCommitMeter } from './unseen-commits.ts';

const id = { client: 'inside', connection: 0, session: 0 };
const server = { node: 'a', podUid: 'uid', startedAtS: 100 };
const ack = (t: number): OutcomeRecord => ({ type: 'outcome', t, ...id, seq: 0, outcome: 'ok' });
const written = (
  t: number,
  bytesWritten: number,
  node = 'a',
  generation = 1,
): ObservationRecord => ({
  ...{ type: 'observation', t, source: 'devices', name: observed.deviceWritten, node },
  data: { device: '/dev/loop1', generation, bytesWritten },
});

function unseen(observations: readonly ObservationRecord[], ...acks: readonly number[]): string[] {
  const meter = unseenCommitMeter({ observations, withinMs: 10, untilMs: 1000 });
  meter.see({ type: 'session', t: 0, ...id, server });
  for (const t of acks) meter.see(ack(t));
  return meter
    .result()
    .map(({ node, count, fromMs, toMs }) => `${node} ${count} ${fromMs}-${toMs}`);
}

test('a counter that grows near a commit has seen it', () => {
  expect(unseen([written(10, 1), written(40, 2)], 5, 20, 30, 50)).toEqual([]);
  expect(unseen([written(10, 1), written(40, 2)], 21, 25, 29)).toEqual(['a 3 21-29']);
});

test('one that does not grow, or is of another node, has not', () => {
  expect(unseen([], 20, 30)).toEqual(['a 2 20-30']);
  expect(unseen([written(10, 5), written(40, 5), written(41, 3)], 40)).toEqual(['a 1 40-40']);
  expect(unseen([written(40, 5, 'b')], 40)).toEqual(['a 1 40-40']);
});

test('a new path counts from nothing', () => {
  expect(unseen([written(10, 5), written(40, 1, 'a', 2)], 40)).toEqual([]);
});

test('in the end nobody needs to look', () => {
  expect(unseen([], 991, 2000)).toEqual([]);
});
