/**
 * Questions to one member: one lasting connection, opened anew after any failure, and a deadline for
 * each question, since a member that is cut off or frozen just keeps silent.
 */
import { connect, type Socket } from 'node:net';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2';
import type { MemberClient, MemberClientOptions } from '../../run/index.ts';
import type { SqlRow } from '../audit/sql-client.ts';
import { timeoutError } from '../errors.ts';

interface OpenedConnection {
  readonly socket: Socket;
  readonly connection: Connection;
}

export class MysqlMemberClient implements MemberClient {
  readonly #options: MemberClientOptions;
  #opened: OpenedConnection | undefined;

  constructor(options: MemberClientOptions) {
    this.#options = options;
  }

  /** One question at a time. Rejects when it is refused, or when no answer came in time. */
  async query(sql: string): Promise<readonly SqlRow[]> {
    const { path, user, deadlineMs } = this.#options;
    const opened = (this.#opened ??= open(await path(), user));
    try {
      return await new Promise<readonly SqlRow[]>((resolve, reject) => {
        const timer = setTimeout(() => {
          const late = timeoutError('operation', deadlineMs);
          opened.socket.destroy(late);
          reject(late);
        }, deadlineMs);
        opened.connection.query<RowDataPacket[]>(sql, (error, rows) => {
          clearTimeout(timer);
          if (error === null) resolve(rows);
          else reject(error);
        });
      });
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#opened?.socket.destroy();
    this.#opened = undefined;
  }
}

function open(path: string, user: string): OpenedConnection {
  // The socket is ours since mysql2 has no way to drop a connection whose server is silent.
  const socket = connect(path);
  const connection = createConnection({ stream: socket, user, connectTimeout: 0 });
  // The question under way hears of it; without a listener a later error would end the process.
  connection.on('error', () => undefined);
  return { socket, connection };
}
