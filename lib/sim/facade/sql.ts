/**
 * The SQL port on the model. The inside client keeps to the node where the database ran first and
 * reaches it without the network; the outside client follows the last Ready pod, as a Service does.
 */
import {
  SqlError,
  type LedgerEntry,
  type OpId,
  type SqlConnector,
  type SqlSession,
} from '../../history/index.ts';
import type { Model } from '../model.ts';
import type { ModelServer } from '../server.ts';
import { clientTimeoutUs, connectTimeoutUs, measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';
import type { KernelDriver } from './kernel-driver.ts';

/** The way between a client and a machine. */
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
