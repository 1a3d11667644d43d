import { expect, test } from 'vitest';
import type { OpId } from '../workload/sql.ts';
import { staleReadMeter, type StaleReads } from './stale-reads.ts';

const op = (session: number, seq: number): OpId => ({
  ...{ client: 'outside', connection: 0, session, seq },
});

/** Session 0 is the victim's, session 1 the successor's, who acknowledges at 5, 6 and 7 s. */
function judged(
  ...reads: readonly { sentAtMs: number; head?: OpId; podUid?: string }[]
): StaleReads[] {
  const meter = staleReadMeter({ victimUid: 'old', victimNode: 'a', faultAtMs: 1000 });
  for (const [session, node] of ['a', 'b'].entries()) {
    const server = { node, podUid: node, startedAtS: 0 };
    meter.see({ type: 'session', t: 0, ...op(session, 0), server });
  }
  const acks = [500, 5000, 6000, 7000];
  for (const [n, t] of acks.entries()) {
    meter.see({ type: 'outcome', t, ...op(n === 0 ? 0 : 1, n), outcome: 'ok' });
  }
  for (const { podUid = 'old', ...read } of reads) {
    const server = { node: 'a', podUid, startedAtS: 0 };
    meter.see({ type: 'read', t: read.sentAtMs + 1, client: 'inside', server, ...read });
  }
  return meter.result();
}

test('reads that miss what the successor acknowledged count, with window and age', () => {
  expect(
    judged(
      { sentAtMs: 4000, head: op(0, 0) },
      { sentAtMs: 5500 },
      { sentAtMs: 6500, head: op(0, 0) },
    ),
  ).toEqual([{ client: 'inside', count: 2, fromMs: 5500, toMs: 6500, oldestMs: 1500, behind: 2 }]);
});

test('a read that sees the successor’s row, or by another pod, is not stale', () => {
  expect(judged({ sentAtMs: 6500, head: op(1, 2) })).toEqual([]);
  expect(judged({ sentAtMs: 6500, head: op(0, 0), podUid: 'new' })).toEqual([]);
});
