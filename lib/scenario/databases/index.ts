/** The kinds of database that a scenario may be played on, and the fields of its group. */
import { z } from 'zod';
import { choice, field, oneOf, textOf } from '../field.ts';
import { fieldsOfKinds } from '../kinds.ts';
import { groupReplication } from './group-replication.ts';
import type { DatabaseDeclaration } from './kind.ts';
import { singleServer } from './single-server.ts';

const declared = [singleServer, groupReplication] as const;

export type DatabaseKind = (typeof declared)[number]['name'];
export const databaseDeclarations: readonly (DatabaseDeclaration & {
  readonly name: DatabaseKind;
})[] = declared;

export const stockDatabaseKind = singleServer.name;

export const databaseKindNamed = (kind: DatabaseKind = stockDatabaseKind): DatabaseDeclaration =>
  databaseDeclarations.find(({ name }) => name === kind) ?? singleServer;

const levels = z.union([z.literal(0), z.literal(1), z.literal(2)]);

/** MySQL's durability. */
const serverFields = {
  trxCommit: field(levels.default(1), {
    about: 'innodb_flush_log_at_trx_commit: 0, 1 or 2',
    text: textOf(
      (text) => (/^[012]$/.test(text) ? levels.parse(Number(text)) : undefined),
      'Allowed choices are 0, 1, 2.',
    ),
    swept: { share: 0.15, draw: oneOf([0, 2]) },
  }),
  binlog: choice(['on', 'off'], 'on', {
    about: 'the binary log; the default is on, synced at each commit',
  }),
};

export const databaseFields = {
  kind: choice(
    declared.map(({ name }) => name),
    stockDatabaseKind,
    {
      about:
        'what to test: one server on a volume that moves, or a group of servers with a volume each',
      more: '([below](#databases))',
    },
  ),
  ...serverFields,
  ...fieldsOfKinds(declared),
};

/** What a scenario says of each server. */
export type DatabaseChoice = {
  readonly [Name in keyof typeof serverFields]: z.output<(typeof serverFields)[Name]['schema']>;
};

/** What it is set to by default. */
export const stockDatabase = Object.fromEntries(
  Object.entries(serverFields).map(([name, { stock }]) => [name, stock]),
) as DatabaseChoice;
