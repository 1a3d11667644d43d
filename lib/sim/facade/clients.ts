/** Clients on the model: the SQL port, and the same writers as on kind, run along in this process on virtual time. */
import {
  SqlError,
  type LedgerEntry,
  type OpId,
  type SqlConnector,
  type SqlSession,
  type SegmentCounts,
  historyDirectory,
  readsSegment,
  writerSegment,
  Segment,
  type ClientSide,
} from '../../history/index.ts';
import {
  runReader,
  changeSchema,
  runWriter,
  type Writers,
  type WriterSpec,
} from '../../run/index.ts';
import type { KernelDriver } from './kernel-driver.ts';
import type { Model } from '../model.ts';
import type { ModelServer } from '../server.ts';
import { clientTimeoutUs, connectTimeoutUs, measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';

/**
 * The SQL port on the model. The inside client keeps to the node where the database ran first and
 * reaches it without the network; the outside client follows the last Ready pod, as a Service does.
 */
interface Route {
  /** It leads elsewhere now: a proxy ends the sessions that it had. */
  readonly moved: () => boolean;
  /** What is sent arrives, if only in a frozen machine's buffers. */
  readonly carries: () => boolean;
  readonly answers: () => boolean;
}

/** `volume`: the number of its database's volume. `first`: where that runs now. */
export function simConnector(
  model: Model,
  driver: KernelDriver,
  volume: number,
  first: string,
): SqlConnector {
  const { world } = model;
  const { kernel } = world;
  let outside = first;
  world.api.watch({
    pod({ ready, node, workload }) {
      if (ready && workload === volume) outside = node?.name ?? outside;
    },
  });
  return {
    connect(side) {
      const node = side === 'inside' ? first : outside;
      const machine = model.machine(node);
      const carries = (): boolean =>
        machine.state !== 'stopped' && (side === 'inside' || machine.connected);
      const answers = (): boolean => carries() && machine.state === 'running';
      const moved = (): boolean => side === 'outside' && node !== outside;
      return driver.background((resolve, reject) => {
        const detail = { outcome: 'fail', fatal: true } as const;
        const refuse = (code: string): void =>
          reject(new SqlError(`connect to ${node}: ${code}`, { ...detail, code }));
        const timeout = kernel.schedule(connectTimeoutUs, () => refuse('ETIMEDOUT'));
        kernel.schedule(draw(world, measuredTimes.connect), () => {
          if (!answers()) return;
          kernel.cancel(timeout);
          const server = model.serverOn(node, volume);
          if (server === undefined) refuse('ECONNREFUSED');
          else resolve(sessionOf(driver, { moved, carries, answers }, server));
        });
      });
    },
  };
}

function sessionOf(driver: KernelDriver, route: Route, server: ModelServer): SqlSession {
  const { machine, podUid, startedAtUs, world } = server;
  const { kernel } = world;

  /** There and back, unless the way is cut or the server goes away meanwhile. */
  const ask = <T>(serve: (answer: (value: T) => void, gone: () => void) => void): Promise<T> =>
    driver.background((resolve, reject) => {
      if (route.moved()) {
        const detail = { outcome: 'fail', fatal: true, code: 'ROUTE_MOVED' } as const;
        return reject(new SqlError('the route leads elsewhere now', detail));
      }
      const lose = (code: string): void =>
        reject(new SqlError('no answer', { outcome: 'info', fatal: true, code }));
      const timeout = kernel.schedule(clientTimeoutUs, () => lose('ETIMEDOUT'));
      const way = (run: () => void): void =>
        void kernel.schedule(draw(world, measuredTimes.network), run);
      const back = (settle: () => void): void =>
        way(() => {
          if (timeout.run === undefined || !route.answers()) return;
          kernel.cancel(timeout);
          settle();
        });
      way(() => {
        if (!route.carries()) return;
        machine.after(0, () =>
          serve(
            (value) => back(() => resolve(value)),
            () => back(() => lose('PROTOCOL_CONNECTION_LOST')),
          ),
        );
      });
    });
  const acknowledged = (work: (answer: (done: boolean) => void) => void): Promise<void> =>
    ask((answer, gone) => work((done) => (done ? answer(undefined) : gone())));
  const commit = (entry: LedgerEntry): Promise<void> =>
    acknowledged((answer) => server.commit(entry, answer));

  const startedAtS = Math.round(driver.wallMs(startedAtUs) / 1000);
  return {
    server: { node: machine.name, podUid, startedAtS },
    // The model keeps rows: each of them stands for its document too.
    ...{ append: commit, transfer: commit, put: commit, remove: commit },
    changeSchema: () => acknowledged((answer) => server.changeSchema(answer)),
    close: () => Promise.resolve(),
    async readHead() {
      const row = await ask<OpId | undefined>((answer, gone) => server.read(answer, gone));
      if (row === undefined) return undefined;
      const { client, connection, session, seq } = row;
      return { client, connection, session, seq };
    },
  };
}

interface SimWritersOptions {
  readonly specs: readonly WriterSpec[];
  /** The run's folder; each client writes a segment of its history. */
  readonly folder: string;
  readonly seed: string;
  readonly connector: SqlConnector;
}

export function startSimWriters(driver: KernelDriver, options: SimWritersOptions): Writers {
  const { specs, folder, seed, connector } = options;
  const aborter = new AbortController();
  const { signal } = aborter;
  const clock = driver.backgroundClock;
  const directory = historyDirectory(folder);
  const acked: { client: ClientSide; node: string; count: number }[] = [];
  const count = (client: ClientSide, node: string): void => {
    const entry = acked.find((each) => each.client === client && each.node === node);
    if (entry === undefined) acked.push({ client, node, count: 1 });
    else entry.count += 1;
  };
  const written: Record<string, SegmentCounts> = {};
  const read = async ({ client, readEveryMs: everyMs }: WriterSpec): Promise<void> => {
    if (everyMs === undefined) return;
    const name = readsSegment(client);
    const journal = new Segment({ directory, name });
    await runReader({ connector, clock, journal, client, everyMs, signal });
    written[name] = journal.close();
  };
  let changing: Promise<void> | undefined;
  let change = (): void => undefined;
  const running = specs.map(async (spec) => {
    const { client } = spec;
    const name = writerSegment(client);
    const segment = new Segment({ directory, name, client });
    const reading = read(spec);
    if (client === 'inside') {
      change = () => {
        changing ??= changeSchema({ connector, clock, journal: segment, client });
        // Heard below, when the writer has ended.
        changing.catch(() => undefined);
      };
    }
    // Heard below, when the writer has ended.
    reading.catch(() => undefined);
    try {
      await runWriter({
        ...{ connector, clock, journal: segment, spec, seed, signal },
        onAck: ({ node }) => count(client, node),
      });
      if (client === 'inside') await changing;
    } finally {
      written[name] = segment.close();
    }
    await reading;
  });
  const ended = Promise.all(running);
  // A writer that failed says so when it is stopped.
  ended.catch(() => undefined);
  return {
    acked: () => structuredClone(acked),
    changeSchema: () => change(),
    async stop() {
      aborter.abort();
      await driver.during(ended);
      return written;
    },
  };
}
