/** A mysqld as a bare host runs it, and the real writer against it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Clock } from '../../lib/core/time.ts';
import { type WriterSpec, runWriter, type WriterRecord } from '../../lib/run/workload.ts';
import { openMysqlSession } from '../../lib/mysql/session.ts';

/** What a server needs of its host. */
export interface Shell {
  sh(script: string, ...args: (string | number)[]): Promise<string>;
  /** Path of a socket as the container and as this process see it. */
  socket(name: string): { readonly inside: string; readonly outside: string };
}

export interface Written {
  readonly records: WriterRecord[];
  /** Stops the writer and resolves once its sessions are closed. */
  stop(): Promise<void>;
}

export class BareServer {
  readonly socketPath: string;
  readonly #host: Shell;
  readonly #node: string;

  private constructor(host: Shell, node: string) {
    this.#host = host;
    this.#node = node;
    this.socketPath = host.socket(node).outside;
  }

  static async start(
    host: Shell,
    node: string,
    mountPoint: string,
    flags: readonly string[],
  ): Promise<BareServer> {
    const { inside, outside } = host.socket(node);
    const argv = [
      ...['mysqld', '--no-defaults', '--user=root', `--datadir=${mountPoint}/data`],
      ...[`--socket=${inside}`, `--pid-file=/tmp/${node}.pid`, `--log-error=/tmp/${node}.err`],
      ...['--skip-networking', '--mysqlx=OFF', '--performance-schema=OFF'],
      ...['--gtid-mode=ON', '--enforce-gtid-consistency=ON'],
      ...[`--report-host=${node}`, `--report-user=pod-${node}`, ...flags],
    ];
    const script = `rm -f "$1" "$1.lock"; shift; "$@" >/dev/null 2>&1 & echo $! > /tmp/${node}.main`;
    await host.sh(script, inside, ...argv);
    const server = new BareServer(host, node);
    if (!(await answers(outside))) {
      throw new Error(await host.sh(`tail -n 20 /tmp/${node}.err`));
    }
    return server;
  }

  query(sql: string): Promise<RowDataPacket[]> {
    return query(this.socketPath, sql);
  }

  /** Statements one after the other on one connection, which is then dropped. */
  async session(statements: readonly string[]): Promise<void> {
    const connection = await createConnection({ socketPath: this.socketPath, user: 'root' });
    connection.on('error', () => undefined);
    try {
      for (const statement of statements) await connection.query(statement);
    } finally {
      connection.destroy();
    }
  }

  /** Sends a signal; resolves at once. */
  async signal(signal: string): Promise<void> {
    await this.#host.sh(`kill -${signal} $(cat /tmp/${this.#node}.main)`);
  }

  /** SIGKILL, and waits until it is gone. */
  async kill(): Promise<void> {
    await this.#host.sh(
      `pid=$(cat /tmp/${this.#node}.main); kill -KILL $pid || true
       while kill -0 $pid 2>/dev/null; do sleep 0.02; done`,
    );
  }

  /** Clean shutdown; killed after 30 s. */
  async stop(): Promise<void> {
    await this.#host.sh(
      `pid=$(cat /tmp/${this.#node}.main); kill -TERM $pid || true
       n=0; while kill -0 $pid 2>/dev/null && [ $n -lt 600 ]; do sleep 0.05; n=$((n + 1)); done
       kill -KILL $pid 2>/dev/null || true`,
    );
  }

  /** The real writer against this server, from this process. A later one needs other sessions. */
  write(spec: Omit<WriterSpec, 'seed'>, seed: string, clock: Clock, firstSession = 0): Written {
    const records: WriterRecord[] = [];
    const stopping = new AbortController();
    const running = runWriter({
      connector: {
        connect: () =>
          openMysqlSession({
            socketPath: this.socketPath,
            connectTimeoutMs: 1000,
            operationTimeoutMs: 2000,
          }),
      },
      clock,
      journal: { append: (record) => records.push(record), flush: () => undefined },
      spec: { ...spec, seed },
      seed,
      firstSession,
      signal: stopping.signal,
    });
    return {
      records,
      async stop(): Promise<void> {
        stopping.abort(new Error('stopped'));
        await running;
      },
    };
  }
}

async function answers(socketPath: string): Promise<boolean> {
  for (let tries = 0; tries < 300; tries += 1) {
    try {
      await query(socketPath, 'SELECT 1');
      return true;
    } catch {
      await sleep(100);
    }
  }
  return false;
}

async function query(socketPath: string, sql: string): Promise<RowDataPacket[]> {
  const connection = await createConnection({ socketPath, user: 'root', connectTimeout: 1000 });
  connection.on('error', () => undefined);
  try {
    const [rows] = await connection.query<RowDataPacket[]>(sql);
    return rows;
  } finally {
    connection.destroy();
  }
}
