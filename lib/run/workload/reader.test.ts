import { expect, test } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import type { ReadRecord } from '../../history/records.ts';
import { runReader } from '../workload.ts';
import { SqlError, type OpId, type SqlSession } from '../../history/workload.ts';

const server = { node: 'worker', podUid: 'uid', startedAtS: 1 };
const head: OpId = { client: 'inside', connection: 0, session: 0, seq: 7 };
const gone = new SqlError('gone', { outcome: 'info', fatal: true, code: 'GONE' });

/** Reads for so long from a server that answers by script, and gives what was recorded. */
async function read(ms: number, answer: (n: number) => OpId | undefined): Promise<ReadRecord[]> {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const records: ReadRecord[] = [];
  const unused = (): Promise<void> => Promise.reject(new Error('a reader writes nothing'));
  let reads = 0;
  const session: SqlSession = {
    ...{ server, append: unused, transfer: unused, put: unused, remove: unused },
    changeSchema: unused,
    readHead: () => new Promise((resolve) => resolve(answer(reads++))),
    close: () => Promise.resolve(),
  };
  const running = runReader({
    connector: { connect: () => Promise.resolve(session) },
    ...{ clock, client: 'inside', everyMs: 500, signal: stopping.signal },
    journal: {
      append: (record) => record.type === 'read' && records.push(record),
      flush: () => undefined,
    },
  });
  // Awaited below: until then a failure is none that nobody handles.
  running.catch(() => undefined);
  await clock.advance(ms);
  stopping.abort(new Error('stop'));
  await clock.advance(1000);
  await running;
  return records;
}

test('a lost session is opened anew after a pause, and what it did not answer is not recorded', async () => {
  const records = await read(1900, (n) => {
    if (n === 1) throw gone;
    return head;
  });
  expect(records.map(({ sentAtMs }) => sentAtMs)).toEqual([0, 1000, 1500]);
});

test('an error that is not SQL’s is not taken for a lost session', async () => {
  const failing = read(600, () => {
    throw new TypeError('a bug');
  });
  await expect(failing).rejects.toThrow('a bug');
});
