/**
 * A writer in a process of its own, so that neither the runner nor a report slows it down. It and writers.ts
 * exchange messages as JSON lines on stdin and stdout. It ends at `stop`, at SIGTERM, or with its stdin:
 * unless at `stop`, and after any error, with exit code 1 and a message on stderr.
 */
import { createInterface } from 'node:readline';
import {
  importDatabase,
  realOf,
  type DefinedIn,
  runReader,
  changeSchema,
  runWriter,
  type WriterSpec,
} from '../../run/index.ts';
import {
  type SegmentList,
  readsSegment,
  Segment,
  type ServerIdentity,
  SqlError,
  type SqlConnector,
  type SqlSession,
} from '../../history/index.ts';
import { type Clock, realClock } from '../../core/index.ts';

export interface StartMessage {
  readonly type: 'start';
  readonly spec: WriterSpec;
  readonly database: DefinedIn;
  readonly transferEvery: number;
  readonly seed: string;
  /** Directory and name of this process's segment of the history. */
  readonly directory: string;
  readonly segment: string;
  /** CLOCK_MONOTONIC at the run's beginning, nanoseconds, as text since JSON has no bigint. */
  readonly originNs: string;
}

/** A way to the database. */
export interface Way {
  readonly socketPath: string;
  /** Whose server is to answer there: another database's pod may have the address by then. Default: any. */
  readonly podUid?: string;
}

export type ToWriter =
  | StartMessage
  /** From now on; null: there is none, so wait for one. */
  | { readonly type: 'route'; readonly way: Way | null }
  /** Change the schema, once, while everything else goes on. */
  | { readonly type: 'change-schema' }
  /** Finish what is under way and exit with 0. */
  | { readonly type: 'stop' };

export type FromWriter =
  /** Acknowledged operations so far, by node that acknowledged. */
  | { readonly type: 'counts'; readonly acked: Readonly<Record<ServerIdentity['node'], number>> }
  /** The last message: the segments that the process has ended. */
  | { readonly type: 'written'; readonly segments: SegmentList };

const countsEveryMs = 200;

const stopping = new AbortController();
let isStopped = false;
const stop = (): void => stopping.abort(new Error('the writer stops'));

/** The way to the database; whoever needs one waits for the first. */
class Route {
  #way: Way | null = null;
  #waiting: (() => void)[] = [];

  set(way: Way | null): void {
    this.#way = way;
    if (way !== null) this.wake();
  }

  leadsTo(socketPath: string): boolean {
    return this.#way?.socketPath === socketPath;
  }

  wake(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }

  async get(): Promise<Way> {
    while (this.#way === null) {
      if (stopping.signal.aborted) {
        const message = 'the writer stops and never had a route';
        throw new SqlError(message, { outcome: 'fail', fatal: true, code: 'NO_ROUTE' });
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this.#way;
  }
}

const route = new Route();
stopping.signal.addEventListener('abort', () => route.wake());

async function connectorOf({ database }: StartMessage): Promise<SqlConnector> {
  const server = await realOf(await importDatabase(database)).server();
  return {
    connect: async () => {
      const { socketPath, podUid } = await route.get();
      const session = await server.connect({ socketPath });
      if (podUid !== undefined && session.server.podUid !== podUid) {
        await session.close();
        throw new SqlError(`pod ${podUid} was called, and pod ${session.server.podUid} answers`, {
          ...{ outcome: 'fail', fatal: true, code: 'OTHER_SERVER' },
        });
      }
      return untilMoved(session, socketPath);
    },
  };
}

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

let onChangeSchema = (): void => fail('a schema change came before the start');

async function run(message: StartMessage): Promise<SegmentList> {
  const { spec, transferEvery, seed, directory } = message;
  const connecting = connectorOf(message);
  const segment = new Segment({ directory, name: message.segment, client: spec.client });
  const acked: Record<string, number> = {};
  let reported = '';
  const report = (): void => {
    const text = JSON.stringify(acked);
    // Most clients of a batch write less often than they report.
    if (text === reported) return;
    reported = text;
    send({ type: 'counts', acked });
  };
  const reporting = setInterval(report, countsEveryMs);
  const clock = realClock(BigInt(message.originNs));
  const { signal } = stopping;
  let changing: Promise<void> | undefined;
  onChangeSchema = () => {
    changing ??= connecting.then((connector) =>
      changeSchema({ connector, clock, journal: segment, client: spec.client }),
    );
    // Awaited below, when the writer has ended.
    changing.catch(() => undefined);
  };
  const connector = await connecting;
  const reading = read(message, connector, clock);
  // Awaited below, when the writer has ended.
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
async function read(
  { spec, directory }: StartMessage,
  connector: SqlConnector,
  clock: Clock,
): Promise<SegmentList> {
  const { client, readEveryMs: everyMs } = spec;
  if (everyMs === undefined) return {};
  const name = readsSegment(client);
  const journal = new Segment({ directory, name });
  await runReader({ connector, clock, journal, client, everyMs, signal: stopping.signal });
  return { [name]: journal.close() };
}

const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  const message = JSON.parse(line) as ToWriter;
  if (message.type === 'route') route.set(message.way);
  else if (message.type === 'change-schema') onChangeSchema();
  else if (message.type === 'stop') {
    isStopped = true;
    stop();
  } else void run(message).then(leave, fail);
});
input.on('close', stop);
process.on('SIGTERM', stop);
// Its parent is gone: then it ends by its stdin.
process.stdout.on('error', () => undefined);

const send = (message: FromWriter): void =>
  void process.stdout.write(`${JSON.stringify(message)}\n`);

/** A journal that ends before the run wants it to proves nothing of the time after. */
function leave(segments: SegmentList): void {
  if (!isStopped) fail('the writer was ended without a stop message');
  send({ type: 'written', segments });
  process.stdin.destroy();
}

function fail(error: unknown): void {
  console.error(error);
  process.exit(1);
}
