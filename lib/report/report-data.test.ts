import { expect, test } from 'vitest';
import type { HistoryRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { exampleHistory } from '../../test/support/example-history.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { exampleSource, sourceOf } from '../../test/support/example-source.ts';
import { reportData } from './report-data.ts';
import { mysql } from '../mysql/database.ts';

const data = reportData(exampleVerdict, exampleSource, mysql);

test('each licence step is tied to the raw record that proves it', () => {
  for (const { rowId, source } of data.licence) {
    const row = data.raw.find(({ id }) => id === rowId);
    expect(row?.source).toBe(source);
  }
});

test('a severed link has a lane of its own, and so have the requests that it holds', () => {
  const at = { type: 'observation', source: 'devices', node: 'example-worker' } as const;
  const held = { device: '/dev/loop100', generation: 1 };
  const severed: HistoryRecord[] = [
    { ...at, t: 61_000, name: observed.linkChanged, data: { state: 'stall' } },
    { ...at, t: 62_000, name: observed.requestsHeld, data: { ...held, held: 12 } },
    { ...at, t: 81_000, name: observed.linkChanged, data: { state: 'pass' } },
    { ...at, t: 81_001, name: observed.requestsHeld, data: { ...held, held: 0 } },
  ];
  const records = [...exampleHistory(), ...severed].toSorted(
    (a, b) => ('t' in a ? a.t : 0) - ('t' in b ? b.t : 0),
  );
  const { timeline, raw } = reportData(exampleVerdict, sourceOf(records), mysql);
  const lane = (label: string) => timeline.lanes.find((each) => each.label === label)?.bars;
  expect(lane('link')).toMatchObject([{ fromS: 1, toS: 21, label: 'stalls' }]);
  expect(lane('held /dev/loop100')).toMatchObject([{ label: '12 held' }]);
  expect(raw.filter(({ kind }) => kind === observed.requestsHeld)).toHaveLength(2);
});

test('a history that ends anywhere still makes a report', () => {
  const whole = exampleHistory();
  const inconclusive: Verdict = {
    ...exampleVerdict,
    verdict: 'inconclusive',
    complete: false,
    incompleteBecause: ['the history is cut'],
  };
  for (let length = 1; length < whole.length; length += 7) {
    const { timeline } = reportData(inconclusive, sourceOf(whole.slice(0, length)), mysql);
    expect(timeline.toS).toBeGreaterThanOrEqual(timeline.fromS);
  }
});
