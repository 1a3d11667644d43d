import { expect, test } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import type { ClientBeatRecord, ReadRecord } from '../../history/records.ts';
import { beatEveryMs } from '../../history/observers.ts';
import { beating, type Counting } from '../workload.ts';

const read: ReadRecord = {
  ...{ type: 'read', t: 0, client: 'inside', sentAtMs: 0 },
  server: { node: 'worker', podUid: 'uid', startedAtS: 1 },
};

/** A client that works so for `ms`; resolves to what it journaled. */
async function journaled(
  ms: number,
  work: (counting: Counting<ReadRecord>, ended: Promise<void>) => Promise<void>,
): Promise<(ClientBeatRecord | ReadRecord)[]> {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const { signal } = stopping;
  const records: (ClientBeatRecord | ReadRecord)[] = [];
  const journal = {
    append: (record: ClientBeatRecord | ReadRecord) => void records.push(record),
    flush: () => undefined,
  };
  const ended = new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  const running = beating<ReadRecord>(
    { clock, journal, client: 'inside', doing: 'reading', signal },
    (counting) => work(counting, ended),
  );
  // Awaited below: until then a failure is none that nobody handles.
  running.catch(() => undefined);
  await clock.advance(ms);
  stopping.abort(new Error('stop'));
  await clock.advance(1);
  await running;
  return records;
}

test('it says at its beginning, at intervals and at its end how many records there are', async () => {
  const records = await journaled(beatEveryMs + 1, async ({ journal, count }, ended) => {
    journal.append(read);
    journal.append(read);
    count('refused');
    await ended;
    journal.append(read);
  });
  const beats = records.filter((record) => record.type === 'client-beat');
  expect(beats.map(({ t, done, last }) => [t, done, last])).toEqual([
    [0, {}, undefined],
    [beatEveryMs, { read: 2, refused: 1 }, undefined],
    [beatEveryMs + 1, { read: 3, refused: 1 }, true],
  ]);
  expect(records.filter(({ type }) => type === 'read')).toHaveLength(3);
});

test('one that fails stops beating, and has no last beat', async () => {
  const failing = journaled(100, () => Promise.reject(new Error('a bug')));
  await expect(failing).rejects.toThrow('a bug');
});
