import { expect, test } from 'vitest';
import type { OpId, ServerIdentity } from '../../history/workload.ts';
import { ReadMeter } from './clients.ts';

const old: ServerIdentity = { node: 'a', podUid: 'old', startedAtS: 100 };

const op = (seq: number, session = 0): OpId => ({
  ...{ client: 'outside', connection: 0, session, seq },
});

interface Read {
  readonly head?: OpId;
  readonly server?: ServerIdentity;
  readonly client?: string;
}

/** One read a second. */
function metered(...reads: readonly Read[]): ReadMeter {
  const meter = new ReadMeter();
  for (const [n, { head, server = old, client = 'inside' }] of reads.entries()) {
    const at = { t: n * 1000 + 5, sentAtMs: n * 1000 };
    meter.see({ type: 'read', ...at, client, server, ...(head === undefined ? {} : { head }) });
  }
  return meter;
}

test('a server that shows an earlier row, or none, went back', () => {
  const earlier = metered({ head: op(4) }, { head: op(3) }, { head: op(2) });
  expect(earlier.wentBack()).toEqual([
    {
      ...{ client: 'inside', node: 'a', count: 2, atMs: 1005 },
      ...{ saw: 'outside/0/0/3', before: 'outside/0/0/4' },
    },
  ]);
  expect(metered({ head: op(4) }, {}).wentBack()).toMatchObject([{ saw: 'no row' }]);
  const returned = metered({ head: op(4) }, { head: op(0, 1) }, { head: op(4) });
  expect(returned.wentBack()).toMatchObject([{ saw: 'outside/0/0/4', before: 'outside/0/1/0' }]);
});

test('a server that goes on, stands still or is another one did not', () => {
  const onwards = [{ head: op(3) }, { head: op(3) }, { head: op(0, 1) }, { head: op(4) }];
  expect(metered({}, ...onwards).wentBack()).toEqual([]);
  const successor = { node: 'b', podUid: 'new', startedAtS: 100 };
  expect(metered({ head: op(4) }, { head: op(3), server: successor }).wentBack()).toEqual([]);
  const again = { ...old, startedAtS: 110 };
  expect(metered({ head: op(4) }, { head: op(3), server: again }).wentBack()).toEqual([]);
  expect(metered({ head: op(4) }, { head: op(3), client: 'outside' }).wentBack()).toEqual([]);
});

test('what was read was seen, first when its first reader had the answer', () => {
  const reads = metered({ head: op(3) }, { head: op(3), client: 'outside' }, { head: op(4) });
  expect([...reads.seen(new Set(['outside']))]).toEqual([
    { ...op(3), atMs: 5, by: 'the inside client on a' },
    { ...op(4), atMs: 2005, by: 'the inside client on a' },
  ]);
});
