/**
 * Stale reads: a server that was replaced still answers, with the ledger as it was. A read by the
 * old pod counts once the successor had acknowledged something before the read was sent, and the
 * newest row that the read saw is none of the successor's.
 */
import type { Story } from './story.ts';
import { type ReadRecord, type Meter, sessionKey, type OpId } from '../../history/index.ts';

/** Stale reads of one client. */
export interface StaleReads {
  readonly client: string;
  readonly count: number;
  /** When the first and the last of them were sent, on the run's clock. */
  readonly fromMs: number;
  readonly toMs: number;
  /** How long the oldest commit that a read did not see had been acknowledged by then. */
  readonly oldestMs: number;
  /** Commits of the successor that a read did not see, at most. */
  readonly behind: number;
}

/** The victim: the pod that the fault hit, and its node. */
export function staleReadMeter({
  victimUid,
  victimNode,
  faultAtMs = Infinity,
}: Pick<Story, 'victimUid' | 'victimNode' | 'faultAtMs'>): Meter<StaleReads[]> {
  /** Sessions by their key, to the node that answered. */
  const nodes = new Map<string, string>();
  /** The successor's acknowledgements, in order of time. */
  const ackedMs: number[] = [];
  const byClient = new Map<string, StaleReads>();
  const isSuccessors = (of: Omit<OpId, 'seq'>): boolean => {
    const node = nodes.get(sessionKey(of));
    return node !== undefined && node !== victimNode;
  };
  /** The answer came a little later than the question: look back from the end. */
  const ackedBy = (ms: number): number => ackedMs.findLastIndex((t) => t <= ms) + 1;
  const read = ({ client, sentAtMs, head }: ReadRecord): void => {
    const [firstMs] = ackedMs;
    if (firstMs === undefined || firstMs > sentAtMs) return;
    if (head !== undefined && isSuccessors(head)) return;
    const before = byClient.get(client);
    byClient.set(client, {
      client,
      count: (before?.count ?? 0) + 1,
      fromMs: before?.fromMs ?? sentAtMs,
      toMs: sentAtMs,
      oldestMs: Math.max(before?.oldestMs ?? 0, sentAtMs - firstMs),
      behind: Math.max(before?.behind ?? 0, ackedBy(sentAtMs)),
    });
  };
  return {
    see(answer) {
      if (answer.type === 'session') {
        if (answer.server !== undefined) nodes.set(sessionKey(answer), answer.server.node);
      } else if (answer.type === 'outcome') {
        const isAck = answer.outcome === 'ok' && answer.t >= faultAtMs && isSuccessors(answer);
        if (isAck) ackedMs.push(answer.t);
      } else if (answer.server.podUid === victimUid) read(answer);
    },
    result: () => [...byClient.values()],
  };
}
