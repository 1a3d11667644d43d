import { expect, test } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import type { SchemaChangeRecord } from '../../history/records.ts';
import { changeSchema } from '../workload.ts';
import { SqlError, type SqlSession } from '../../history/workload.ts';

const server = { node: 'worker', podUid: 'uid', startedAtS: 1 };
const unused = (): Promise<never> => Promise.reject(new Error('nobody asks for it'));

/** Changes the schema on a server that answers so; gives what was journaled before each answer. */
async function recorded(
  connect: () => Promise<void>,
  answer: () => Promise<void> = () => Promise.resolve(),
): Promise<SchemaChangeRecord[]> {
  const records: SchemaChangeRecord[] = [];
  const session: SqlSession = {
    ...{ server, append: unused, transfer: unused, put: unused, remove: unused, readHead: unused },
    changeSchema() {
      expect(records.map(({ step }) => step)).toEqual(['asked', 'sent']);
      return answer();
    },
    close: () => Promise.resolve(),
  };
  await changeSchema({
    connector: { connect: () => connect().then(() => session) },
    clock: new VirtualClock(),
    journal: { append: (record) => records.push(record), flush: () => undefined },
    client: 'inside',
  });
  return records;
}

const fails = (outcome: 'fail' | 'info') => (): Promise<void> =>
  Promise.reject(new SqlError('no', { outcome, fatal: true, code: 'TEST' }));
const works = (): Promise<void> => Promise.resolve();

test('it is journaled before it is sent, and its end as the server said it', async () => {
  const [asked, sent, ended] = await recorded(works);
  expect([asked?.step, sent?.server, ended?.outcome]).toEqual(['asked', server, 'ok']);
  expect((await recorded(works, fails('info'))).at(-1)).toMatchObject({ outcome: 'info' });
  expect((await recorded(works, fails('fail'))).at(-1)).toMatchObject({ outcome: 'fail' });
});

test('where nobody answers, nothing was sent', async () => {
  const records = await recorded(fails('fail'));
  expect(records.map(({ step }) => step)).toEqual(['asked', 'ended']);
  expect(records.at(-1)).toMatchObject({ outcome: 'fail', error: 'TEST: no' });
});
