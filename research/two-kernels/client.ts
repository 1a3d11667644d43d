/**
 * The client of one side: it writes while the schedule says so, and its journal is a segment of the
 * history as any client's.
 */
import type { Clock } from '../../lib/core/index.ts';
import { mysql } from '../../lib/mysql/index.ts';
import {
  type ClientPlan,
  type SegmentList,
  historyDirectory,
  writerSegment,
  Segment,
} from '../../lib/history/index.ts';
import { type WriterSpec, runWriter } from '../../lib/run/index.ts';
import { clientOf, type Node } from './host.ts';

export interface LabClientOptions extends Pick<WriterSpec, 'connections' | 'rate'> {
  readonly node: Pick<Node, 'name' | 'databasePort'>;
  /** The run's. */
  readonly seed: string;
  readonly clock: Clock;
  /** The run's. */
  readonly folder: string;
}

const timeouts = { connectTimeoutMs: 5_000, operationTimeoutMs: 10_000 };
/** No client reconnects as often. */
const sessionsPerStart = 100_000;

export class LabClient {
  /** What it is to do, whenever it writes. */
  readonly plan: ClientPlan & Pick<WriterSpec, 'client'>;
  readonly #options: LabClientOptions;
  readonly #journal: Segment;
  #acked = 0;
  #starts = 0;
  #writing: { readonly stop: AbortController; readonly done: Promise<void> } | undefined;

  constructor(options: LabClientOptions) {
    const { node, connections, rate, folder } = options;
    const client = clientOf[node.name];
    this.plan = { client, connections, rate };
    this.#options = options;
    const directory = historyDirectory(folder);
    this.#journal = new Segment({ directory, name: writerSegment(client), client });
  }

  /** Commits that it was told of. */
  get acked(): number {
    return this.#acked;
  }

  /** It begins to write, unless it does. */
  write(): void {
    if (this.#writing !== undefined) return;
    const { seed, clock, node } = this.#options;
    const stop = new AbortController();
    const done = runWriter({
      connector: {
        connect: async () =>
          (await mysql.real.server()).connect({ port: node.databasePort, ...timeouts }),
      },
      clock,
      journal: this.#journal,
      spec: { ...this.plan, seed: `${seed}/${node.name}` },
      seed,
      firstSession: this.#starts * sessionsPerStart,
      signal: stop.signal,
      onAck: () => {
        this.#acked += 1;
      },
    });
    this.#starts += 1;
    // An internal error is told by `pause`.
    done.catch(() => undefined);
    this.#writing = { stop, done };
  }

  /** What is under way is waited for. */
  async pause(): Promise<void> {
    const writing = this.#writing;
    this.#writing = undefined;
    writing?.stop.abort(new Error('paused'));
    await writing?.done;
  }

  /** It writes no more; resolves to what it has written. */
  async end(): Promise<SegmentList> {
    await this.pause();
    return { [writerSegment(this.plan.client)]: this.#journal.close() };
  }
}
