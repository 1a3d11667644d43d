/**
 * The SQL port on the model. The inside client keeps to the node where the database ran first and
 * reaches it without the network; the outside client follows the last Ready pod, as a Service does.
 */
import {
  SqlError,
  type ClientSide,
  type LedgerEntry,
  type OpId,
  type ServerIdentity,
  type SqlConnector,
  type SqlSession,
} from '../../../workload/sql.ts';
import type { Timer } from '../kernel.ts';
import type { NodeMachine } from '../machine.ts';
import type { Model } from '../model.ts';
import type { ModelServer } from '../server.ts';
import { clientTimeoutUs, connectTimeoutUs, measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';
import type { KernelDriver } from './kernel-driver.ts';

export class SimConnector implements SqlConnector {
  readonly #model: Model;
  readonly #driver: KernelDriver;
  /** The number of its database's volume. */
  readonly #volume: number;
  readonly #insideNode: string;
  #outsideNode: string;

  /** `node`: where the database runs now. */
  constructor(model: Model, driver: KernelDriver, volume: number, node: string) {
    this.#model = model;
    this.#driver = driver;
    this.#volume = volume;
    this.#insideNode = node;
    this.#outsideNode = node;
    const { api } = model.world;
    api.watchers.add({
      pod: ({ ready, node: of, workload }) => {
        if (ready && workload === volume) this.#outsideNode = of?.name ?? this.#outsideNode;
      },
    });
  }

  connect(side: ClientSide): Promise<SqlSession> {
    const { world } = this.#model;
    const node = side === 'inside' ? this.#insideNode : this.#outsideNode;
    const moved = (): boolean => side === 'outside' && node !== this.#outsideNode;
    const route = new Route(this.#model.machine(node), side, moved);
    return this.#driver.background((resolve, reject) => {
      const refuse = (code: string): void =>
        reject(new SqlError(`connect to ${node}: ${code}`, { outcome: 'fail', fatal: true, code }));
      const timeout = world.kernel.schedule(connectTimeoutUs, () => refuse('ETIMEDOUT'));
      const arrive = (): void => {
        world.kernel.cancel(timeout);
        const server = this.#model.serverOn(node, this.#volume);
        if (server === undefined) refuse('ECONNREFUSED');
        else resolve(new SimSession(this.#model, this.#driver, route, server));
      };
      world.kernel.schedule(draw(world, measuredTimes.connect), () => {
        if (route.answers) arrive();
      });
    });
  }
}

/** The way between a client and a machine. */
class Route {
  readonly machine: NodeMachine;
  /** It leads elsewhere now: a proxy ends the sessions that it had. */
  readonly moved: () => boolean;
  readonly #side: ClientSide;

  constructor(machine: NodeMachine, side: ClientSide, moved: () => boolean) {
    this.machine = machine;
    this.moved = moved;
    this.#side = side;
  }

  /** What is sent arrives, if only in a frozen machine's buffers. */
  get carries(): boolean {
    return this.machine.state !== 'stopped' && (this.#side === 'inside' || this.machine.connected);
  }

  get answers(): boolean {
    return this.carries && this.machine.state === 'running';
  }
}

class SimSession implements SqlSession {
  readonly server: ServerIdentity;
  readonly #model: Model;
  readonly #driver: KernelDriver;
  readonly #route: Route;
  readonly #server: ModelServer;

  constructor(model: Model, driver: KernelDriver, route: Route, server: ModelServer) {
    const { machine, podUid, startedAtUs } = server;
    const startedAtS = Math.round(driver.wallMs(startedAtUs) / 1000);
    this.server = { node: machine.name, podUid, startedAtS };
    this.#model = model;
    this.#driver = driver;
    this.#route = route;
    this.#server = server;
  }

  readonly append = (entry: LedgerEntry): Promise<void> => this.#commit(entry);
  readonly transfer = this.append;
  /** The model keeps rows: that one tells of its document too. */
  readonly put = this.append;
  readonly remove = this.append;

  changeSchema(): Promise<void> {
    return this.#ask((answer, gone) =>
      this.#server.changeSchema((acknowledged) => (acknowledged ? answer(undefined) : gone())),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async readHead(): Promise<OpId | undefined> {
    const row = await this.#ask<OpId | undefined>((answer, gone) =>
      this.#server.read(answer, gone),
    );
    if (row === undefined) return undefined;
    const { client, connection, session, seq } = row;
    return { client, connection, session, seq };
  }

  #commit(entry: LedgerEntry): Promise<void> {
    return this.#ask((answer, gone) =>
      this.#server.commit(entry, (acknowledged) => (acknowledged ? answer(undefined) : gone())),
    );
  }

  /** There and back, unless the way is cut or the server goes away meanwhile. */
  #ask<T>(serve: (answer: (value: T) => void, gone: () => void) => void): Promise<T> {
    const { world } = this.#model;
    const route = this.#route;
    const way = (run: () => void): Timer =>
      world.kernel.schedule(draw(world, measuredTimes.network), run);
    return this.#driver.background((resolve, reject) => {
      if (route.moved()) {
        const detail = { outcome: 'fail', fatal: true, code: 'ROUTE_MOVED' } as const;
        return reject(new SqlError('the route leads elsewhere now', detail));
      }
      const lose = (code: string): void =>
        reject(new SqlError('no answer', { outcome: 'info', fatal: true, code }));
      const timeout = world.kernel.schedule(clientTimeoutUs, () => lose('ETIMEDOUT'));
      const back = (settle: () => void): Timer =>
        way(() => {
          if (timeout.run === undefined || !route.answers) return;
          world.kernel.cancel(timeout);
          settle();
        });
      way(() => {
        if (!route.carries) return;
        route.machine.after(0, () =>
          serve(
            (value) => back(() => resolve(value)),
            () => back(() => lose('PROTOCOL_CONNECTION_LOST')),
          ),
        );
      });
    });
  }
}
