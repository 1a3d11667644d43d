/** The port to a database of several servers that replicate among themselves: their pods, and what each holds. */
import type { LedgerRow, GroupView } from '../../history/index.ts';
import type { Scenario } from '../../scenario/index.ts';

/** Their pods. */
export interface GroupTemplate {
  /** Name of their controller and service, and in their names and labels. */
  readonly name: string;
  /** What of group.yaml is the database's own to fill in; `groupId` is a UUID. */
  values(
    image: string,
    scenario: Scenario,
    groupId: string,
  ): Readonly<Record<string, string | number>>;
}

export interface MemberClientOptions {
  /** Path of a socket that leads to the member now. */
  readonly path: () => Promise<string>;
  /** Without a password. */
  readonly user: string;
  /** Connecting included, ms. */
  readonly deadlineMs: number;
}

export interface MemberClient {
  /** One statement at a time. Rejects when it is refused, or when no answer came in time. */
  query(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  close(): void;
}

export interface LedgerQuery {
  readonly node: string;
  /** Transactions for which the member waits first. */
  readonly upTo: string | undefined;
  /** The run's. */
  readonly seed: string;
  readonly onRow: (row: LedgerRow) => void;
}

/** What one member holds. */
export interface LedgerReading {
  readonly node: string;
  readonly rows: number;
  /** CHECKSUM TABLE of the ledger and of the accounts. */
  readonly checksums: readonly string[];
  /** @@gtid_executed. */
  readonly gtids: string;
  /** Part of these beyond the set that it was asked to have; `` for nothing. */
  readonly beyond: string;
}

export interface GroupDatabase {
  readonly template: GroupTemplate;
  /** User that may only do an application's work. */
  readonly ordinaryUser: string;
  /** Statements for a fresh server at these addresses, for the first member, for each other one. */
  prepareMember(addresses: readonly string[]): readonly string[];
  readonly bootstrap: readonly string[];
  readonly join: readonly string[];
  readonly makeOrdinaryUser: readonly string[];
  memberClient(options: MemberClientOptions): MemberClient;
  /** The group as this member sees it. */
  view(client: MemberClient): Promise<GroupView>;
  /** Seq of the last row of each outside session that the member has, by `connection/session`. */
  heads(client: MemberClient): Promise<Readonly<Record<string, number>>>;
  /** Reads a member's whole ledger, in primary key order. `path`: of a socket. */
  readLedger(path: string, query: LedgerQuery): Promise<LedgerReading>;
  /** Its own code of an error of a query. */
  codeOf(error: unknown): string;
}
