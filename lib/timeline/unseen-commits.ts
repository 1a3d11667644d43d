/**
 * Commits that went to a disk whose observer saw nothing written: an acknowledged commit is on its
 * node's device, so the counter there has grown by about that time, or nobody looked at it.
 */
import type { ObservationRecord } from '../history/events.ts';
import type { OutcomeRecord, ReadRecord, SessionRecord } from '../history/client-records.ts';
import { observed } from '../history/observations.ts';
import { sessionKey } from '../workload/ledger.ts';

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
export class UnseenCommitMeter {
  readonly #growth: ReadonlyMap<string, Growth>;
  readonly #withinMs: number;
  readonly #untilMs: number;
  readonly #nodes = new Map<string, string>();
  readonly #unseen = new Map<string, UnseenCommits>();

  constructor({ observations, withinMs, untilMs }: UnseenOptions) {
    this.#growth = growthOf(observations);
    this.#withinMs = withinMs;
    this.#untilMs = untilMs - withinMs;
  }

  see(answer: SessionRecord | OutcomeRecord | ReadRecord): void {
    if (answer.type === 'session') {
      if (answer.server !== undefined) this.#nodes.set(sessionKey(answer), answer.server.node);
    } else if (answer.type === 'outcome' && answer.outcome === 'ok' && answer.t < this.#untilMs) {
      const node = this.#nodes.get(sessionKey(answer));
      if (node !== undefined && !this.#isSeen(node, answer.t)) this.#miss(node, answer.t);
    }
  }

  result(): UnseenCommits[] {
    return [...this.#unseen.values()];
  }

  #isSeen(node: string, t: number): boolean {
    const growth = this.#growth.get(node);
    if (growth === undefined) return false;
    const { times } = growth;
    while (growth.next < times.length && (times[growth.next] ?? t) <= t) growth.next += 1;
    const before = times[growth.next - 1] ?? Number.NEGATIVE_INFINITY;
    const after = times[growth.next] ?? Number.POSITIVE_INFINITY;
    return t - before <= this.#withinMs || after - t <= this.#withinMs;
  }

  #miss(node: string, t: number): void {
    const known = this.#unseen.get(node);
    this.#unseen.set(node, {
      ...{ node, fromMs: known?.fromMs ?? t, toMs: t, count: (known?.count ?? 0) + 1 },
    });
  }
}

/** When each node's counter was seen to grow. A new generation counts from nothing. */
function growthOf(observations: readonly ObservationRecord[]): Map<string, Growth> {
  const last = new Map<string, number>();
  const times = new Map<string, number[]>();
  for (const { name, node, t, data } of observations) {
    if (name !== observed.deviceWritten && name !== observed.deviceCut) continue;
    if (node === undefined) continue;
    const key = `${node}/${String(data['device'])}/${String(data['generation'])}`;
    const bytes = Number(data['bytesWritten']);
    if (bytes > (last.get(key) ?? 0)) {
      const ofNode = times.get(node);
      if (ofNode === undefined) times.set(node, [t]);
      else ofNode.push(t);
    }
    last.set(key, bytes);
  }
  return new Map([...times].map(([node, found]) => [node, { times: found, next: 0 }]));
}
