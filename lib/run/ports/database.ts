/** The port to a database: all that the rest of the tool uses of the one under test. It is an argument, like the cluster. `lib/mysql` implements it, and so may a caller of the library. */
import { join } from 'node:path';
import { type CommandEvidence, projectRoot, UsageError } from '../../core/index.ts';
import type {
  LedgerRow,
  GroupView,
  ImageEvidence,
  ClientSide,
  SqlSession,
} from '../../history/index.ts';
import type { JudgedDatabase } from '../../judge/index.ts';
import type { Scenario, DatabaseChoice } from '../../scenario/index.ts';

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
  readonly seed: string;
  readonly onRow: (row: LedgerRow) => void;
}

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
  view(client: MemberClient): Promise<GroupView>;
  /** Seq of the last row of each outside session that the member has, by `connection/session`. */
  heads(client: MemberClient): Promise<Readonly<Record<string, number>>>;
  /** Reads a member's whole ledger, in primary key order. `path`: of a socket. */
  readLedger(path: string, query: LedgerQuery): Promise<LedgerReading>;
  /** Its own code of an error of a query. */
  codeOf(error: unknown): string;
}

/** A UNIX socket, or a port on the loopback address. */
type ServerAddress = { readonly socketPath: string } | { readonly port: number };

export type SessionOptions = ServerAddress & {
  /** Connect, handshake, who-are-you and prepare together; default 2000. */
  readonly connectTimeoutMs?: number;
  /** From sending an operation to its answer; default 5000. */
  readonly operationTimeoutMs?: number;
};

/** Sockets that lead to the server from both sides. */
export interface ServerRoutes {
  get(side: ClientSide): string | undefined;
}

export interface DefinedIn {
  /** Relative to the project's root. */
  readonly module: string;
  readonly name: string;
}

/** What a database has where its servers are real; parts are imported when they are asked for. */
export interface RealDatabase {
  /** For a process of its own. */
  readonly definedIn: DefinedIn;
  /** Program that audits a copy of a volume, relative to the project's root; it writes messages of audit/wire.ts. */
  readonly auditTool: string;
  server(): Promise<DatabaseServer>;
  recovery?(): Promise<RecoverImage>;
  group?(): Promise<GroupDatabase>;
  bare?(): Promise<BareServer>;
}

export interface DatabaseServer {
  /** A client's session; asks who answers. Throws SqlError (`fail`, fatal). */
  readonly connect: (options: SessionOptions) => Promise<SqlSession>;
  /** Makes the workload's tables through the outside route. Throws where they are there already. */
  readonly prepareSchema: (routes: ServerRoutes) => Promise<void>;
  /** What its data directory calls itself: another one after it was initialised anew. */
  readonly identify: (socketPath: string) => Promise<string>;
}

/** A crash state's image, mounted as the next node would. */
export interface CrashImage extends AsyncDisposable {
  readonly mountPoint: string;
  /** Undefined when mounted, else why it can't be. */
  mount(): Promise<string | undefined>;
  /** Read-only check of the unmounted image. */
  check(): Promise<CommandEvidence>;
  unmount(): Promise<void>;
}

export interface RecoverImageOptions {
  /** It is disposed of. */
  readonly volume: CrashImage;
  /** The run's seed: gives what each session's first row must link to. */
  readonly runSeed: string;
  /** Also indexes, the check of the tables and fsck. */
  readonly thorough: boolean;
  readonly onRows: (rows: readonly LedgerRow[]) => void;
  readonly signal: AbortSignal;
}

/** Recovers the database on a crash state and reads it. Rejects only when it was aborted. */
export type RecoverImage = (options: RecoverImageOptions) => Promise<ImageEvidence>;

export interface BareMachine {
  readonly name: string;
  /** Port on the loopback address that leads to the server's. */
  readonly databasePort: number;
  /** Runs a shell script there as root; resolves to its output. */
  sh(script: string, ...args: readonly (string | number)[]): Promise<string>;
}

export interface BareOptions {
  /** On the machine. */
  readonly dataDirectory: string;
  readonly trxCommit: 0 | 1 | 2;
  readonly signal: AbortSignal;
}

export interface BareStarted {
  /** It answered a query from outside the machine. */
  readonly ready: boolean;
  /** Until it did, or until it was given up. */
  readonly startMs: number;
  /** It ended by itself before it answered. */
  readonly died: boolean;
}

/** A server as its pod would run it, on a machine without Kubernetes. */
export interface BareServer {
  /** Says what became of the start; a server that dies is no error here. */
  readonly start: (machine: BareMachine, options: BareOptions) => Promise<BareStarted>;
  /** True while its process is there. */
  readonly runs: (machine: BareMachine) => Promise<boolean>;
  /** Clean shutdown; killed after 60 s. */
  readonly stop: (machine: BareMachine) => Promise<void>;
  /** Pages in memory that are not on the disk so; undefined without an answer. */
  readonly dirtyPages: (machine: BareMachine) => Promise<number | undefined>;
  /** Lines of its log that tell of errors. */
  readonly errorLines: (machine: BareMachine) => Promise<string[]>;
  /** Shell lines that make the workload's empty database in the folder `data` of the mount `$mount`. */
  readonly makeBlank: string;
}

export interface Database extends JudgedDatabase {
  readonly pod: DatabaseTemplate;
  /** Absent: only the model plays it. */
  readonly real?: RealDatabase;
}

/** Its pod: `manifests/<name>` has the template, and what is not here is asked of nobody. */
export interface DatabaseTemplate {
  /** Where its container has the volume. */
  readonly dataFolder: string;
  /** It answers clients there. */
  readonly port: number;
  /** What of pod.yaml is the database's own to fill in. */
  values(image: string, choice: DatabaseChoice): Readonly<Record<string, string | number>>;
}

/** Throws UsageError `DATABASE_NOT_REAL` where only the model plays it. */
export function realOf({ real, title }: Pick<Database, 'real' | 'title'>): RealDatabase {
  if (real !== undefined) return real;
  throw new UsageError('DATABASE_NOT_REAL', `${title} has no servers for a real cluster`, {
    hint: 'play it on the model: --cluster sim, or simulated() in the library',
  });
}

/** For a process that was started with the place alone. */
export async function importDatabase(place: DefinedIn): Promise<Database> {
  const exported = (await import(join(projectRoot, place.module))) as Record<string, Database>;
  const database = exported[place.name];
  if (database === undefined) throw new RangeError(`${place.module} exports no ${place.name}`);
  return database;
}
