/** A group of MySQL servers: statements to its members, and their answers. */
import { z } from 'zod';
import type { GroupDatabase, GroupTemplate } from '../../run/index.ts';
import type { GroupView } from '../../history/index.ts';
import { groupSettingsOf } from '../../scenario/index.ts';
import { connectError } from '../errors.ts';
import { databaseName } from '../schema.ts';
import type { SqlRow } from '../audit/sql-client.ts';
import { MysqlMemberClient } from './member-client.ts';
import { readLedger } from './read-ledger.ts';

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

/** The last row of each outside session that the member has. */
const askHeads =
  `SELECT connection, session, MAX(seq) AS seq FROM ${databaseName}.ledger` +
  " WHERE client = 'outside' GROUP BY connection, session";

const template: GroupTemplate = {
  name: 'mysql-group',
  values(image, scenario, groupId) {
    const settings = groupSettingsOf(scenario);
    return {
      MYSQL_IMAGE: image,
      TRX_COMMIT: scenario.trxCommit,
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
