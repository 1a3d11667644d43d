/** Acknowledged commits per second, their latency, and bytes per device: lines on the time axis. */
import type { HistoryRecord, InvokeRecord, OutcomeRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import { sessionKey } from '../workload/ledger.ts';
import type { Series } from './types.ts';

/** Interval widths to choose from, seconds; the first that keeps a line under `maxPoints`. */
const widthsS = [1, 2, 5, 10, 30, 60, 300] as const;
const maxPoints = 1500;
const mebibyte = 1024 * 1024;

/** Acknowledged commits of one client by one node. Columns, since there may be a million. */
interface Acked {
  readonly ackedAtMs: number[];
  readonly latencyMs: number[];
}

const connectionKey = (record: InvokeRecord | OutcomeRecord): string =>
  `${record.client}/${record.connection}`;

export class Rates {
  operations = 0;
  /** Node that answers, by client / connection / session. */
  readonly #servers = new Map<string, string>();
  /** When the operation under way was sent, by client / connection: one at a time on each. */
  readonly #sentAtMs = new Map<string, number>();
  readonly #acked = new Map<string, Acked>();
  readonly #written = new Map<string, [number, number][]>();

  see(record: HistoryRecord): void {
    if (record.type === 'session') {
      const key = sessionKey(record);
      if (record.server !== undefined) this.#servers.set(key, record.server.node);
    } else if (record.type === 'invoke') {
      this.operations += 1;
      this.#sentAtMs.set(connectionKey(record), record.t);
    } else if (record.type === 'outcome') {
      if (record.outcome === 'ok') this.#ack(record);
    } else if (record.type === 'observation' && record.name === observed.deviceWritten) {
      this.#write(record.node ?? '', record.data, record.t);
    }
  }

  #ack(record: OutcomeRecord): void {
    const node = this.#servers.get(`${connectionKey(record)}/${record.session}`) ?? 'unknown node';
    const name = `${record.client} → ${node}`;
    const acked = this.#acked.get(name) ?? { ackedAtMs: [], latencyMs: [] };
    this.#acked.set(name, acked);
    acked.ackedAtMs.push(record.t);
    acked.latencyMs.push(record.t - (this.#sentAtMs.get(connectionKey(record)) ?? record.t));
  }

  #write(node: string, data: Readonly<Record<string, unknown>>, t: number): void {
    const device = data['device'];
    const name = typeof device === 'string' ? `${node} ${device}` : node;
    const points = this.#written.get(name) ?? [];
    this.#written.set(name, points);
    points.push([t, Number(data['bytesWritten'] ?? 0) / mebibyte]);
  }

  /** Times become seconds after `zeroMs`; intervals cover [startMs, endMs]. */
  result(
    zeroMs: number,
    startMs: number,
    endMs: number,
  ): {
    readonly bucketS: number;
    readonly commits: Series[];
    readonly latency: Series[];
    readonly written: Series[];
  } {
    const spanS = (endMs - startMs) / 1000;
    const bucketS = widthsS.find((width) => spanS / width <= maxPoints) ?? 300;
    const commits: Series[] = [];
    const latency: Series[] = [];
    for (const [name, acked] of [...this.#acked].toSorted(byName)) {
      const buckets = intoBuckets(acked, zeroMs, startMs, endMs, bucketS);
      commits.push({ name, points: buckets.map((b) => [b.atS, b.count / bucketS]) });
      latency.push({ name, points: buckets.map((b) => [b.atS, b.slowestMs]) });
    }
    const written = [...this.#written].toSorted(byName).map(([name, points]) => ({
      name,
      points: points.map(([t, mib]) => [round(t - zeroMs) / 1000, round(mib * 100) / 100] as const),
    }));
    return { bucketS, commits, latency, written };
  }
}

const round = Math.round;
const byName = (a: readonly [string, unknown], b: readonly [string, unknown]): number =>
  a[0] < b[0] ? -1 : 1;

interface Bucket {
  readonly atS: number;
  count: number;
  /** Null where nothing was acknowledged: a gap must stay a gap. */
  slowestMs: number | null;
}

/** Buckets are aligned to `zeroMs`, so that the fault is always a border. */
function intoBuckets(
  { ackedAtMs, latencyMs }: Acked,
  zeroMs: number,
  startMs: number,
  endMs: number,
  bucketS: number,
): Bucket[] {
  const indexOf = (ms: number): number => Math.floor((ms - zeroMs) / 1000 / bucketS);
  const first = indexOf(startMs);
  const buckets = Array.from(
    { length: indexOf(endMs) - first + 1 },
    (_, i): Bucket => ({
      atS: (first + i) * bucketS,
      count: 0,
      slowestMs: null,
    }),
  );
  for (const [i, ms] of ackedAtMs.entries()) {
    const bucket = buckets[indexOf(ms) - first];
    if (bucket === undefined) continue;
    bucket.count += 1;
    bucket.slowestMs = Math.max(bucket.slowestMs ?? 0, round((latencyMs[i] ?? 0) * 100) / 100);
  }
  return buckets;
}
