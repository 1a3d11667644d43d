/**
 * Commits that went to a disk whose observer saw nothing written: an acknowledged commit is on its
 * node's device, so the counter there has grown by about that time, or nobody looked at it.
 */
import { type ObservationRecord, type Meter, observed, sessionKey } from '../../history/index.ts';

export interface UnseenCommits {
  readonly node: string;
  readonly count: number;
  /** When the first and the last were acknowledged, ms on the run's clock. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface UnseenOptions {
  readonly observations: readonly ObservationRecord[];
  /** How much earlier or later than a commit the counter may be seen to grow. */
  readonly withinMs: number;
  /** From when on nobody needs to look. */
  readonly untilMs: number;
}

interface Growth {
  readonly times: readonly number[];
  /** Index of the first time after the last commit that was looked up. */
  next: number;
}

/** Fed answers in time order, one pass. */
export function unseenCommitMeter(options: UnseenOptions): Meter<UnseenCommits[]> {
  const { observations, withinMs, untilMs } = options;
  const growths = growthOf(observations);
  const nodes = new Map<string, string>();
  const unseen = new Map<string, UnseenCommits>();
  const isSeen = (node: string, t: number): boolean => {
    const growth = growths.get(node);
    if (growth === undefined) return false;
    const { times } = growth;
    while (growth.next < times.length && (times[growth.next] ?? t) <= t) growth.next += 1;
    const before = times[growth.next - 1] ?? Number.NEGATIVE_INFINITY;
    const after = times[growth.next] ?? Number.POSITIVE_INFINITY;
    return t - before <= withinMs || after - t <= withinMs;
  };
  return {
    see(answer) {
      if (answer.type === 'session') {
        if (answer.server !== undefined) nodes.set(sessionKey(answer), answer.server.node);
      } else if (answer.type === 'outcome' && answer.outcome === 'ok') {
        const { t } = answer;
        const node = nodes.get(sessionKey(answer));
        if (node === undefined || t >= untilMs - withinMs || isSeen(node, t)) return;
        const { fromMs = t, count = 0 } = unseen.get(node) ?? {};
        unseen.set(node, { node, fromMs, toMs: t, count: count + 1 });
      }
    },
    result: () => [...unseen.values()],
  };
}

/** When each node's counter was seen to grow. A new generation counts from nothing. */
function growthOf(observations: readonly ObservationRecord[]): Map<string, Growth> {
  const last = new Map<string, number>();
  const times = new Map<string, number[]>();
  for (const { name, node, t, data } of observations) {
    if (name !== observed.deviceWritten && name !== observed.deviceCut) continue;
    if (node === undefined) continue;
    const key = `${node}/${data.device}/${String(data.generation)}`;
    const bytes = data.bytesWritten ?? Number.NaN;
    if (bytes > (last.get(key) ?? 0)) {
      const ofNode = times.get(node);
      if (ofNode === undefined) times.set(node, [t]);
      else ofNode.push(t);
    }
    last.set(key, bytes);
  }
  return new Map([...times].map(([node, found]) => [node, { times: found, next: 0 }]));
}
