/** The port to a real server of the database, which only clusters and labs of machines have. */
import type { ImageEvidence, LedgerRow, ClientSide, SqlSession } from '../../history/index.ts';
import type { GroupDatabase } from './group-port.ts';
import type { CommandEvidence } from '../../core/index.ts';

/** A UNIX socket, or a port on the loopback address. */
export type ServerAddress = { readonly socketPath: string } | { readonly port: number };

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

/** A Database that a module exports. */
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
  /** Recovers crash states. */
  recovery?(): Promise<RecoverImage>;
  /** Its servers as a group that replicates. */
  group?(): Promise<GroupDatabase>;
  /** A server without a cluster. */
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

/** A machine that a bare server runs on, without a cluster. */
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
