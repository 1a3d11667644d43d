/**
 * A writer in a process of its own, so that neither the runner nor a report slows it down. Started
 * by writers.ts; ends when told to, at SIGTERM, or when its parent is gone. Unless it was told to, and
 * after any error of its own, that is with exit code 1 and a message on stderr.
 */
import { databaseServer } from '../../../database/server.ts';
import type { SegmentList } from '../../../history/events.ts';
import { readsSegment } from '../../../history/recorder.ts';
import { Segment } from '../../../history/segment.ts';
import { runReader } from '../../../workload/reader.ts';
import { changeSchema } from '../../../workload/schema-change.ts';
import { SqlError, type SqlConnector, type SqlSession } from '../../../workload/sql.ts';
import { runWriter } from '../../../workload/writer.ts';
import type { Clock } from '../../../clock.ts';
import { realClock } from '../../../real-clock.ts';
import type { CountsMessage, FromWriter, StartMessage, ToWriter } from './writer-messages.ts';

const countsEveryMs = 200;

const stopping = new AbortController();
let isAsked = false;
const stop = (): void => stopping.abort(new Error('the writer was told to stop'));

/** The way to the database; whoever needs one waits for the first. */
class Route {
  #socketPath: string | null = null;
  #waiting: (() => void)[] = [];

  set(socketPath: string | null): void {
    this.#socketPath = socketPath;
    if (socketPath !== null) this.wake();
  }

  leadsTo(socketPath: string): boolean {
    return this.#socketPath === socketPath;
  }

  wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }

  async get(): Promise<string> {
    while (this.#socketPath === null) {
      if (stopping.signal.aborted) {
        const message = 'the writer stops and never had a route';
        throw new SqlError(message, { outcome: 'fail', fatal: true, code: 'NO_ROUTE' });
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.#socketPath;
  }
}

const route = new Route();
stopping.signal.addEventListener('abort', () => route.wake());

const connector: SqlConnector = {
  connect: async () => {
    const socketPath = await route.get();
    return untilMoved(await databaseServer.connect({ socketPath }), socketPath);
  },
};

/** Ends sessions once the route leads elsewhere, as a proxy does, also where the old server lives. */
function untilMoved(session: SqlSession, socketPath: string): SqlSession {
  const onRoute = <T>(send: () => Promise<T>): Promise<T> => {
    if (route.leadsTo(socketPath)) return send();
    const detail = { outcome: 'fail', fatal: true, code: 'ROUTE_MOVED' } as const;
    return Promise.reject(new SqlError('the route leads elsewhere now', detail));
  };
  return {
    server: session.server,
    append: (entry) => onRoute(() => session.append(entry)),
    transfer: (entry) => onRoute(() => session.transfer(entry)),
    put: (entry, body) => onRoute(() => session.put(entry, body)),
    remove: (entry, document) => onRoute(() => session.remove(entry, document)),
    changeSchema: () => onRoute(() => session.changeSchema()),
    readHead: () => onRoute(() => session.readHead()),
    close: () => session.close(),
  };
}

let onChangeSchema = (): void => fail('the writer was to change the schema before it was started');

/** Resolves to the segments that it has written. */
async function run(message: StartMessage): Promise<SegmentList> {
  const { spec, transferEvery, seed, directory } = message;
  const segment = new Segment({ directory, name: message.segment, client: spec.client });
  const acked: Record<string, number> = {};
  let told = '';
  const report = (): void => {
    const counts: CountsMessage = { type: 'counts', acked };
    const text = JSON.stringify(counts);
    // Most clients of a batch write less often than they are asked.
    if (text === told || !process.connected) return;
    told = text;
    process.send?.(counts);
  };
  const reporting = setInterval(report, countsEveryMs);
  const clock = realClock(BigInt(message.originNs));
  const { signal } = stopping;
  let changing: Promise<void> | undefined;
  onChangeSchema = () => {
    changing ??= changeSchema({ connector, clock, journal: segment, client: spec.client });
    // Heard below, when the writer has ended.
    changing.catch(() => undefined);
  };
  const reading = read(message, clock);
  // Heard below, when the writer has ended.
  reading.catch(() => undefined);
  await runWriter({
    connector,
    clock,
    journal: segment,
    spec,
    seed,
    transferEvery,
    signal,
    onAck: ({ node }) => {
      acked[node] = (acked[node] ?? 0) + 1;
    },
  });
  const reads = await reading;
  await changing;
  clearInterval(reporting);
  const counts = segment.close();
  report();
  return { [message.segment]: counts, ...reads };
}

/** In a segment of its own, so that the frames of operations stay free of other records. */
async function read({ spec, directory }: StartMessage, clock: Clock): Promise<SegmentList> {
  const { client, readEveryMs: everyMs } = spec;
  if (everyMs === undefined) return {};
  const name = readsSegment(client);
  const journal = new Segment({ directory, name });
  await runReader({ connector, clock, journal, client, everyMs, signal: stopping.signal });
  return { [name]: journal.close() };
}

process.on('message', (message: ToWriter) => {
  if (message.type === 'route') route.set(message.socketPath);
  else if (message.type === 'change-schema') onChangeSchema();
  else if (message.type === 'stop') {
    isAsked = true;
    stop();
  } else void run(message).then(leave, fail);
});
process.on('disconnect', stop);
process.on('SIGTERM', stop);
// Ctrl-C reaches the whole process group; the runner decides when its writers stop.
process.on('SIGINT', () => undefined);

/** A journal that ends before the run wants it to proves nothing of the time after. */
function leave(segments: SegmentList): void {
  if (!isAsked) fail('the writer left unasked');
  if (!process.connected) return;
  // Disconnecting lets the process end by itself once this is sent.
  process.send?.({ type: 'written', segments } satisfies FromWriter, () => process.disconnect());
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
