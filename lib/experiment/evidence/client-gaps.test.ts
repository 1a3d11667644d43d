import { expect, test } from 'vitest';
import { runRecord } from '../../../test/support/run-record.ts';
import { ClientJournals } from '../../history/client-protocol.ts';
import type { ClientPlan } from '../../history/client-records.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { tellStory } from '../../timeline/story.ts';
import { clientGaps } from './client-gaps.ts';
import { mysql } from '../../mysql/database.ts';

const endMs = 600_000;
const plan = { connections: 1, rate: 1, readEveryMs: 2000 } as const;
const clients: readonly ClientPlan[] = ['inside', 'outside'].map((client) => ({ client, ...plan }));

interface Life {
  /** Until when, and from when on again, it writes. */
  readonly pauseMs?: readonly [number, number];
  readonly endMs?: number;
  readonly reads?: (atMs: number) => number;
  readonly beats?: (atMs: number) => boolean;
}

/** Both clients write once a second and beat every 20 s; the inside one lives so. */
function journalsOf(life: Life): ClientJournals {
  const journals = new ClientJournals();
  for (const { client } of clients) {
    const { pauseMs: [from, to] = [0, 0], ...own } = client === 'inside' ? life : {};
    const server = { node: 'a', podUid: 'uid', startedAtS: 1 };
    journals.record({ type: 'session', t: 1000, client, connection: 0, session: 0, server });
    let seq = 0;
    const until = own.endMs ?? endMs;
    const beat = (t: number, last: boolean): void => {
      if (own.beats?.(t) === false && !last) return;
      const about = { type: 'client-beat', t, client, ...(last ? { last } : {}) } as const;
      const writing = { session: 1, invoke: seq, outcome: seq };
      journals.record({ ...about, doing: 'writing', done: writing });
      const refused = own.reads?.(t) ?? t / 2000;
      journals.record({ ...about, doing: 'reading', done: { refused } });
    };
    for (let t = 2000; t < until; t += 1000) {
      if (t % 20_000 === 0) beat(t, false);
      if (t >= from && t < to) continue;
      const line = { atUs: t * 1000, connection: 0, session: 0, seq, error: undefined };
      journals.operation({ ...line, what: 'append' }, client);
      journals.operation({ ...line, what: 'ok' }, client);
      seq += 1;
    }
    beat(until, true);
  }
  return journals;
}

function gaps(life: Life, planned: readonly ClientPlan[] = clients): string[] {
  const records: SmallRecord[] = [
    { ...runRecord({ connections: 1, rate: 1 }), schemaVersion: 3 },
    { type: 'workload', t: 500, clients: planned },
    { type: 'phase', t: endMs, phase: 'second-image' },
  ];
  return clientGaps(tellStory(records, mysql), journalsOf(life)).map(({ reason }) => reason);
}

test('clients that do what was planned lack nothing', () => {
  expect(gaps({})).toEqual([]);
});

test('a silence beyond the pace and the longest answer is told', () => {
  expect(gaps({ pauseMs: [100_000, 130_000] })).toEqual([]);
  expect(gaps({ pauseMs: [100_000, 132_000] })).toEqual([
    'the inside client’s journal: its connection 0 was silent from 99.0 s to 132.0 s',
  ]);
});

test('one that leaves before it is told to is told, also in good order', () => {
  expect(gaps({ endMs: 400_000 })).toEqual([
    'the inside client’s journal: its connection 0 was silent from 399.0 s to 600.0 s',
    'the inside client ended at 400.0 s, before it was to end',
    'the inside client’s reader ended at 400.0 s, before it was to end',
  ]);
});

test('a reader that tries nothing is told', () => {
  const reads = (t: number): number => Math.min(t, 200_000) / 2000;
  expect(gaps({ reads })[0]).toContain('reader tried nothing from 200.0 s');
});

test('one that does not beat is told', () => {
  expect(gaps({ beats: (t) => t < 200_000 || t > 280_000 })).toEqual([
    'the inside client did not beat from 180.0 s to 300.0 s',
    'the inside client’s reader did not beat from 180.0 s to 300.0 s',
  ]);
});

test('what was planned is what the scenario asks, for both', () => {
  const [inside, outside] = clients;
  if (inside === undefined || outside === undefined) throw new Error('there are two');
  expect(gaps({}, [inside])).toEqual(['the plan lacks the outside client']);
  expect(gaps({}, [inside, { ...outside, rate: 0.01 }])).toEqual([
    'the outside client was to do what no scenario asks',
  ]);
  const { readEveryMs: _readEveryMs, ...without } = outside;
  expect(gaps({}, [inside, without])).toHaveLength(1);
});

test('nobody’s plan is a gap of each client', () => {
  const records: SmallRecord[] = [{ ...runRecord(), schemaVersion: 3 }];
  expect(clientGaps(tellStory(records, mysql), new ClientJournals())).toHaveLength(2);
  expect(clientGaps(tellStory([runRecord()], mysql), new ClientJournals())).toEqual([]);
});
