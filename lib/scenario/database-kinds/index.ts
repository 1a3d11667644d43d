/** The kinds of database that a scenario may be played on, from what each says of itself. */
import { fieldsOfKinds } from '../fields/of-kinds.ts';
import { groupReplication } from './group-replication.ts';
import type { DatabaseDeclaration } from './kind.ts';
import { singleServer } from './single-server.ts';

const declared = [singleServer, groupReplication] as const;

export type DatabaseKind = (typeof declared)[number]['name'];
export const databaseDeclarations: readonly (DatabaseDeclaration & {
  readonly name: DatabaseKind;
})[] = declared;
export const databaseKinds: readonly DatabaseKind[] = declared.map(({ name }) => name);

/** Whoever does not say which one means it: so did all scenarios before there was another. */
export const stockDatabaseKind = singleServer.name;

export const fieldsOfDatabases = fieldsOfKinds(declared);

export const databaseKindNamed = (kind: DatabaseKind = stockDatabaseKind): DatabaseDeclaration =>
  databaseDeclarations.find(({ name }) => name === kind) ?? singleServer;
