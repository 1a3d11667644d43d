import { expect, test } from 'vitest';
import type { HistoryRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { exampleHistory } from '../../test/support/example-history.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { exampleSource, sourceOf } from '../../test/support/example-source.ts';
import { reportData } from './report-data.ts';
import type { Role } from './axis/palette.ts';
import { mysql } from '../mysql/database.ts';

const data = reportData(exampleVerdict, exampleSource, mysql);

test('lanes say who held what, in seconds after the fault', () => {
  const lane = (role: Role, label: string) =>
    data.timeline.lanes.find((each) => each.role === role && each.label === label)?.bars;
  expect(lane('victim', 'node')).toEqual([
    { fromS: -60, toS: 48.2, tone: 'good', label: 'Ready' },
    { fromS: 48.2, toS: 446, tone: 'warn', label: 'Ready=Unknown' },
    { fromS: 446, toS: 500, tone: 'good', label: 'Ready' },
  ]);
  expect(lane('victim', 'mount')).toMatchObject([{ fromS: -56, toS: 445.2 }]);
  expect(lane('successor', 'mount')).toMatchObject([{ fromS: 414.2, toS: 500 }]);
  expect(lane('run', 'fault')).toMatchObject([{ fromS: 0, toS: 437, label: 'network-partition' }]);
  expect(lane('victim', 'CSI')?.at(-1)).toMatchObject({ fromS: 412.64, toS: 412.7 });
});

test('what is shown first begins before the fault and ends after the hand-over', () => {
  expect(data.timeline.first).toEqual([-27, 472]);
  const alone = { secondMount: null, firstCommit: null };
  const phases = { ...exampleVerdict.phases, ...alone };
  const exposure = { ms: 0, bytesVictim: 0, bytesSuccessor: 0 };
  const { timeline } = reportData({ ...exampleVerdict, phases, exposure }, exampleSource, mysql);
  expect(timeline.first).toEqual([timeline.fromS, timeline.toS]);
});

test('each licence step is tied to the raw record that proves it', () => {
  for (const { rowId, source } of data.licence) {
    const row = data.raw.find(({ id }) => id === rowId);
    expect(row?.source).toBe(source);
  }
});

test('the exposure is shaded from the second mount to the victim’s unmount', () => {
  expect(data.timeline.exposure).toMatchObject({ fromS: 414.2, toS: 445.2 });
});

test('an hour of preparation does not squeeze what matters', () => {
  const late = exampleHistory().map((record) =>
    record.type === 'run' ? { ...record, t: -3_600_000 } : record,
  );
  const { timeline } = reportData(exampleVerdict, sourceOf(late), mysql);
  expect(timeline.fromS).toBe(-61);
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

test('every record but operations becomes a row; those that tell the story are marked', () => {
  const others = exampleHistory().filter(({ type }) => type !== 'invoke' && type !== 'outcome');
  expect(data.raw).toHaveLength(others.length);
  expect(data.rawMore).toBe(0);
  const marked = data.raw.filter(({ isKey }) => isKey).map(({ kind }) => kind);
  expect(marked).toContain('force-detach-log');
  expect(marked).not.toContain(observed.deviceWritten);
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
