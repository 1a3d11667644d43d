/** A group of MySQL servers: questions to its members, and their answers. */
import { connect, type Socket } from 'node:net';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2';
import { z } from 'zod';
import type { GroupView } from '../history/index.ts';
import { checksums, streamLedger } from './audit/read-tables.ts';
import { RowVerifier } from './audit/rows.ts';
import { type SqlRow, SqlClient } from './audit/sql-client.ts';
import { databaseName } from './tables.ts';
import { timeoutError, connectError } from './session.ts';
import type {
  MemberClient,
  MemberClientOptions,
  LedgerQuery,
  LedgerReading,
  GroupDatabase,
  GroupTemplate,
} from '../run/index.ts';
import { groupSettingsOf } from '../scenario/index.ts';

interface OpenedConnection {
  readonly socket: Socket;
  readonly connection: Connection;
}

/**
 * Questions to one member: one lasting connection, opened anew after any failure, and a deadline for
 * each question, since a member that is cut off or frozen just keeps silent.
 */
class MysqlMemberClient implements MemberClient {
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

/** A member online may be so far behind the primary when the writers have stopped. */
const catchUpS = 30;

export async function readLedger(path: string, reading: LedgerQuery): Promise<LedgerReading> {
  const { node, upTo, seed, onRow } = reading;
  const client = await SqlClient.connect(path);
  try {
    if (upTo !== undefined) {
      await client.query(`SELECT WAIT_FOR_EXECUTED_GTID_SET('${upTo}', ${catchUpS})`);
    }
    let rows = 0;
    await streamLedger(client, new RowVerifier(seed), (batch) => {
      rows += batch.length;
      for (const row of batch) onRow(row);
    });
    const found = await checksums(client);
    const known = upTo === undefined ? '@@gtid_executed' : `'${upTo}'`;
    const [gtids] = await client.query(
      `SELECT @@gtid_executed AS executed, GTID_SUBTRACT(@@gtid_executed, ${known}) AS beyond`,
    );
    return {
      node,
      rows,
      checksums: found.map(({ table, checksum }) => `${table} ${checksum}`),
      gtids: String(gtids?.['executed']),
      beyond: String(gtids?.['beyond']),
    };
  } finally {
    client.destroy();
  }
}

const groupPort = 33_061;
/** Reads and writes the workload's tables, and may do nothing else: offline_mode refuses it. */
const ordinaryUser = 'app';

/** Makes a fresh server ready to join a group of these addresses, now and at each later start. */
const prepareMember = (addresses: readonly string[]): readonly string[] => [
  // What a server did to set itself up is its own and no part of the group's history.
  'RESET BINARY LOGS AND GTIDS',
  `SET PERSIST group_replication_group_seeds = '${addresses.map((ip) => `${ip}:${groupPort}`).join()}'`,
  'SET PERSIST_ONLY group_replication_start_on_boot = ON',
  "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root', SOURCE_PASSWORD = ''" +
    " FOR CHANNEL 'group_replication_recovery'",
];

const bootstrap: readonly string[] = [
  'SET GLOBAL group_replication_bootstrap_group = ON',
  'START GROUP_REPLICATION',
  'SET GLOBAL group_replication_bootstrap_group = OFF',
];

const join: readonly string[] = ['START GROUP_REPLICATION'];

const makeOrdinaryUser: readonly string[] = [
  `CREATE USER ${ordinaryUser} IDENTIFIED BY ''`,
  `GRANT SELECT, INSERT, UPDATE ON ${databaseName}.* TO ${ordinaryUser}`,
];

const askView =
  'SELECT MEMBER_HOST AS node, MEMBER_STATE AS state, MEMBER_ROLE AS role,' +
  ' @@report_host AS self, @@super_read_only AS superReadOnly, @@offline_mode AS offlineMode' +
  ' FROM performance_schema.replication_group_members';

const flag = z.number().transform((value) => value === 1);
const viewRow = z.object({
  node: z.string(),
  state: z.enum(['ONLINE', 'RECOVERING', 'OFFLINE', 'ERROR', 'UNREACHABLE']),
  role: z.enum(['PRIMARY', 'SECONDARY', '']),
  self: z.string(),
  superReadOnly: flag,
  offlineMode: flag,
});
const viewRows = z.tuple([viewRow], viewRow);

/** A server outside any group names one member, itself, without a host. */
export function viewOf(rows: readonly SqlRow[]): GroupView {
  const parsed = viewRows.parse(rows);
  const { self, superReadOnly, offlineMode } = parsed[0];
  const members = parsed
    .map(({ node, state, role }) => ({ node: node === '' ? self : node, state, role }))
    .toSorted((a, b) => a.node.localeCompare(b.node));
  return { node: self, members, superReadOnly, offlineMode };
}

const askHeads =
  `SELECT connection, session, MAX(seq) AS seq FROM ${databaseName}.ledger` +
  " WHERE client = 'outside' GROUP BY connection, session";

const template: GroupTemplate = {
  name: 'mysql-group',
  values(image, scenario, groupId) {
    const settings = groupSettingsOf(scenario);
    return {
      MYSQL_IMAGE: image,
      TRX_COMMIT: scenario.database.trxCommit,
      GROUP_NAME: groupId,
      CONSISTENCY: settings.consistency,
      MAJORITY_TIMEOUT_SECONDS: settings.majorityTimeoutS,
      EXIT_ACTION: settings.exitAction,
      AUTOREJOIN_TRIES: settings.autorejoinTries,
      EXPEL_TIMEOUT_SECONDS: settings.expelTimeoutS,
    };
  },
};

export const mysqlGroup: GroupDatabase = {
  ...{ template, ordinaryUser, prepareMember, bootstrap, join, makeOrdinaryUser, readLedger },
  memberClient: (options) => new MysqlMemberClient(options),
  view: async (client) => viewOf(await client.query(askView)),
  async heads(client) {
    const rows = await client.query(askHeads);
    return Object.fromEntries(
      rows.map(({ connection, session, seq }) => [
        `${Number(connection)}/${Number(session)}`,
        Number(seq),
      ]),
    );
  },
  codeOf: (error) => connectError(error).code,
};
