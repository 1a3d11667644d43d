/** What an audit read from a cold copy of the volume, and which volume and which copy that is. */
import { z } from 'zod';
import type { Immutable } from '../core/index.ts';
import type { LedgerEntry } from './workload.ts';

/** The volume as it was when its database was new. */
export interface VolumeIdentity {
  /** Its handle at the backend. */
  readonly volume: string;
  /** Absent for a shared directory, which has no file system of its own. */
  readonly filesystemUuid?: string | undefined;
  /** Told by the server. */
  readonly serverUuid?: string;
  /** How it came about; absent where it was there before its claim. */
  readonly provisioning?: Provisioning;
}

/** Which copies of the volume a run makes. */
export type ImageLabel = 'steady' | 'first' | 'second';

/** One copy. Whoever makes it and whoever opens it report the same of it, or it is not the same. */
export const copyIdentitySchema = z.object({
  /** Drawn for this copy, and for no other. */
  copy: z.string(),
  /** Handle of the volume that was copied. */
  volume: z.string(),
  /** Generation of the volume's latest attachment by then; 0 for a shared directory, which has none. */
  generation: z.number(),
  bytes: z.number(),
  /** Which file it is, and when its content or its name last changed. */
  stamp: z.string(),
  /** Over a part of its content, which `copy` chooses. */
  digest: z.string(),
  /** Absent for a shared directory, and where the copy has no file system. */
  filesystemUuid: z.string().optional(),
});
export type CopyIdentity = Immutable<z.output<typeof copyIdentitySchema>>;

/** How a volume came about that Kubernetes' provisioner made: who was asked for what, in which order. */
export const provisioningSchema = z.strictObject({
  storageClass: z.string(),
  claim: z.string(),
  /** Name of the PersistentVolume. */
  volumeName: z.string(),
  /** Read from the PersistentVolume. */
  handle: z.string(),
  /** Read from the PersistentVolume: the driver whose provisioner made it. */
  by: z.string(),
  /** The driver's calls about it until its database was Ready, in the order in which they came in. */
  calls: z.array(
    z.strictObject({
      /** RPC name. */
      call: z.string(),
      node: z.string(),
      /** Run time when it came in. */
      t: z.number(),
      durationMs: z.number(),
      error: z.string().optional(),
    }),
  ),
});
export type Provisioning = Readonly<z.output<typeof provisioningSchema>>;

export interface PodRef {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

const serverStart = z.object({
  /** `recovery`: first start, crash recovery; `cold`: after kill -9 of it; `check`: throwaway, for checks that may crash it. */
  purpose: z.enum(['recovery', 'cold', 'check']),
  ready: z.boolean(),
  durationMs: z.number(),
  /** Set where the server died by itself, at any time of its life: exit code or signal name. */
  died: z.string().optional(),
  /** Lines of the error log of level ERROR, or that name corruption; at most 50. */
  errorLines: z.array(z.string()),
});
export type ServerStart = Immutable<z.output<typeof serverStart>>;

/** One ledger row, as found. */
export interface LedgerRow extends Omit<LedgerEntry, 'previousHash' | 'hash'> {
  readonly id: number;
  /** The stored hash fits the row's own content. */
  readonly hashFits: boolean;
  /** previousHash is the hash of the same session's row before it (or the session's origin). */
  readonly linkFits: boolean;
}

/** Rows counted by primary key and by a secondary index: they must agree. */
const indexCount = z.object({
  table: z.string(),
  index: z.string(),
  byPrimary: z.number(),
  byIndex: z.number(),
  /** Both ways also gave the same column values; absent where that was not compared. */
  valuesAgree: z.boolean().optional(),
});
export type IndexCount = Immutable<z.output<typeof indexCount>>;

const opId = z.object({
  client: z.string(),
  ...{ connection: z.number(), session: z.number(), seq: z.number() },
});

/** The documents (lib/history/workload.ts) that were found, each held against its bytes. */
const documentsFound = z.object({
  /** Seqs of those found, by session (`sessionKey`). */
  found: z.record(z.string(), z.array(z.number())),
  /** Those whose bytes are not what was written: its name, and how they differ. */
  torn: z.array(z.object({ document: opId, how: z.string() })),
});
export type DocumentsFound = Immutable<z.output<typeof documentsFound>>;

/** What a server with its grant tables answered to a client with an application's account. */
const loginFound = z.object({
  /** The server's error, where it refused the login or a statement that the account may send. */
  refused: z.string().optional(),
  /** What the account may do that nobody granted. */
  unlimited: z.string().optional(),
});
export type LoginFound = Immutable<z.output<typeof loginFound>>;

/** Tables, columns and indexes as the server's dictionary has them. */
const schemaFound = z.object({
  /** Schema as made, as the one change of it leaves it, or neither. */
  state: z.enum(['original', 'changed', 'other']),
  /** What of `other` is not as it should be. */
  oddities: z.array(z.string()),
});
export type SchemaFound = Immutable<z.output<typeof schemaFound>>;

export const commandSchema = z.object({
  ...{ command: z.string(), exitCode: z.number(), output: z.string(), durationMs: z.number() },
});

const balances: z.ZodType<Readonly<Record<number, number>>> = z.record(z.string(), z.number());

/** A database adds keys of its own (OwnPart). */
export const imageEvidenceSchema = z.object({
  /** All of them, where a caller of the library gave the database. */
  own: z.unknown().optional(),
  /** The volume is a shared directory, on whose file system nobody mounts anything. Default false. */
  isDirectory: z.boolean().optional(),
  /** On ext4 with multiple mount protection: what let the copy be used at once. It replays, too. */
  mmpCleared: commandSchema.optional(),
  /** Journal replay of the copy, then a full read-only check. Absent for a shared directory. */
  fsckReplay: commandSchema.optional(),
  fsck: commandSchema.optional(),
  mounted: z.boolean(),
  mountError: z.string().optional(),
  /** The data directory looked empty: the server's image would have initialised a new database. */
  dataDirectoryEmpty: z.boolean(),
  starts: z.array(serverStart),
  /** True when every row was read to the end. */
  ledgerComplete: z.boolean(),
  ledgerError: z.string().optional(),
  /** Rows read; the rows themselves are in the history's segment `rows-<image>`. */
  ledgerRows: z.number(),
  balances,
  /** Absent where they were not read, and in histories before version 3. */
  documents: documentsFound.optional(),
  /** Likewise. */
  schema: schemaFound.optional(),
  /** Likewise. */
  login: loginFound.optional(),
  indexCounts: z.array(indexCount),
  /** Content of the crash canaries found on the copy, by name. */
  canaries: z.record(z.string(), z.string()),
  /** Parts that could not be read and why: the audit is incomplete. */
  failures: z.array(z.string()),
  /** Answered with an error by a living server (its symbol and message); the ledger's own is `ledgerError`. Default none. */
  sqlFailures: z.array(z.object({ what: z.string(), error: z.string() })).optional(),
  /** Which copy it is that was read. Absent before version 3, and of a copy that nobody labelled. */
  opened: copyIdentitySchema.optional(),
  /** UUID of the file system: a new one means that it was formatted anew. */
  filesystemUuid: z.string().optional(),
  /** What the data directory calls itself: a new one means that the data directory was initialised anew. */
  serverUuid: z.string().optional(),
  /** How long each step of the audit took, ms. */
  durationsMs: z.record(z.string(), z.number()).optional(),
});
export type ImageEvidence = Immutable<z.output<typeof imageEvidenceSchema>>;

/** Why a ledger was not read to its end: it is damaged, or the audit failed. */
export type Unread = 'damage' | 'gap';

/** Evidence before anything was read: where an audit begins. */
export const nothingRead = (): ImageEvidence => ({
  mounted: false,
  dataDirectoryEmpty: false,
  starts: [],
  ledgerComplete: false,
  ledgerRows: 0,
  balances: {},
  indexCounts: [],
  canaries: {},
  failures: [],
});
