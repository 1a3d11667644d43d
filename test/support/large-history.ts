/**
 * A made-up history of very many operations in a run's folder, with one outlier and one gap planted:
 * what a report must still show.
 */
import type { HistoryRecord, InvokeRecord } from '../../lib/history/records.ts';
import { historyDirectory } from '../../lib/history/recorder.ts';
import { Segment } from '../../lib/history/segment.ts';
import { randomStream } from '../../lib/core/random.ts';
import { exampleHistory } from './example-history.ts';

/** Seconds after the fault, as the report counts. */
export const planted = {
  /** The slowest commit of all, by far. */
  outlier: { endS: 250.125, latencyMs: 9500 },
  /** Nothing is acknowledged to `outside`. */
  gap: { fromS: 120, toS: 123.5 },
} as const;

const faultAtMs = 60_000;
const [fromMs, toMs] = [10_000, 550_000];
const connections = 16;

/** Both clients together send so many operations, evenly over the run. */
export function writeLargeHistory(folder: string, operations: number): void {
  const directory = historyDirectory(folder);
  const run = new Segment({ directory, name: 'run' });
  for (const record of exampleHistory()) if (!isWriting(record)) run.append(record);
  run.close();
  for (const client of ['inside', 'outside']) {
    const segment = new Segment({ directory, name: `writer-${client}`, client });
    for (const record of writing(client, operations / 2)) segment.append(record);
    segment.close();
  }
}

const isWriting = ({ type }: HistoryRecord): boolean =>
  type === 'invoke' || type === 'outcome' || type === 'session';

/** In the order of time of each connection; connections take turns. */
function* writing(client: string, operations: number): Generator<HistoryRecord> {
  const random = randomStream(`large ${client}`);
  const server = { node: 'example-worker', podUid: 'made-up', startedAtS: 0 };
  for (let connection = 0; connection < connections; connection++) {
    yield { type: 'session', t: fromMs, client, connection, session: 0, server };
  }
  const everyMs = (toMs - fromMs) / operations;
  const { outlier } = planted;
  for (let n = 0; n < operations; n++) {
    const t = fromMs + n * everyMs;
    if (client === 'outside' && isInGap(t)) continue;
    const id = {
      client,
      connection: n % connections,
      session: 0,
      seq: Math.floor(n / connections),
    };
    const latencyMs = Math.min(1 + random.float() * 3, everyMs * connections * 0.9);
    yield* operation({ type: 'invoke', t, ...id, kind: 'append' }, latencyMs);
  }
  if (client !== 'inside') return;
  // On a connection of its own, so that it delays nobody.
  const id = { client, connection: connections, session: 0, seq: 0 };
  yield { type: 'session', t: fromMs, client, connection: connections, session: 0, server };
  const t = faultAtMs + outlier.endS * 1000 - outlier.latencyMs;
  yield* operation({ type: 'invoke', t, ...id, kind: 'transfer' }, outlier.latencyMs);
}

const isInGap = (t: number): boolean =>
  t > faultAtMs + planted.gap.fromS * 1000 - 10 && t < faultAtMs + planted.gap.toS * 1000;

function* operation(invoke: InvokeRecord, latencyMs: number): Generator<HistoryRecord> {
  const { client, connection, session, seq, t } = invoke;
  yield invoke;
  const id = { client, connection, session, seq };
  yield { type: 'outcome', t: t + latencyMs, ...id, outcome: 'ok' };
}
