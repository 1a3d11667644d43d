/** What an audit read from a cold copy of the volume, and which volume and which copy that is. */
import { z } from 'zod';
import type { CommandEvidence } from '../core/index.ts';
import type { OpId, LedgerEntry } from './workload.ts';

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

/** One copy. Whoever makes it and whoever opens it tell the same of it, or it is not the same. */
export interface CopyIdentity {
  /** Drawn for this copy, and for no other. */
  readonly copy: string;
  /** Handle of the volume that was copied. */
  readonly volume: string;
  /** Generation of the volume's latest attachment by then; 0 for a shared directory, which has none. */
  readonly generation: number;
  readonly bytes: number;
  /** Which file it is, and when its content or its name last changed. */
  readonly stamp: string;
  /** Over a part of its content, which `copy` chooses. */
  readonly digest: string;
  /** Absent for a shared directory, and where the copy has no file system. */
  readonly filesystemUuid?: string | undefined;
}

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

export interface ServerStart {
  /** `recovery`: first start, crash recovery; `cold`: after kill -9 of it; `check`: throwaway, for checks that may crash it. */
  readonly purpose: 'recovery' | 'cold' | 'check';
  readonly ready: boolean;
  readonly durationMs: number;
  /** Set where the server died by itself, at any time of its life: exit code or signal name. */
  readonly died?: string;
  /** Lines of the error log of level ERROR, or that name corruption; at most 50. */
  readonly errorLines: readonly string[];
}

/** One ledger row, as found. */
export interface LedgerRow extends Omit<LedgerEntry, 'previousHash' | 'hash'> {
  readonly id: number;
  /** The stored hash fits the row's own content. */
  readonly hashFits: boolean;
  /** previousHash is the hash of the same session's row before it (or the session's origin). */
  readonly linkFits: boolean;
}

/** Rows counted by primary key and by a secondary index: they must agree. */
export interface IndexCount {
  readonly table: string;
  readonly index: string;
  readonly byPrimary: number;
  readonly byIndex: number;
  /** Both ways also gave the same column values; absent where that was not compared. */
  readonly valuesAgree?: boolean;
}

/** The documents (lib/history/workload.ts) that were found, each held against its bytes. */
export interface DocumentsFound {
  /** Seqs of those found, by session (`sessionKey`). */
  readonly found: Readonly<Record<string, readonly number[]>>;
  /** Those whose bytes are not what was written: its name, and how they differ. */
  readonly torn: readonly { readonly document: OpId; readonly how: string }[];
}

/** What a server with its grant tables answered to a client with an application's account. */
export interface LoginFound {
  /** The server's error, where it refused the login or a statement that the account may send. */
  readonly refused?: string;
  /** What the account may do that nobody granted. */
  readonly unlimited?: string;
}

/** Tables, columns and indexes as the server's dictionary has them. */
export interface SchemaFound {
  /** Schema as made, as the one change of it leaves it, or neither. */
  readonly state: 'original' | 'changed' | 'other';
  /** What of `other` is not as it should be. */
  readonly oddities: readonly string[];
}

interface SqlFailure {
  readonly what: string;
  /** The server's symbol for it, and its message. */
  readonly error: string;
}

/** A database adds keys of its own (OwnPart). */
export interface ImageEvidence {
  /** All of them, where a caller of the library gave the database. */
  readonly own?: unknown;
  /** The volume is a shared directory, on whose file system nobody mounts anything. Default false. */
  readonly isDirectory?: boolean;
  /** On ext4 with multiple mount protection: what let the copy be used at once. It replays, too. */
  readonly mmpCleared?: CommandEvidence;
  /** Journal replay of the copy, then a full read-only check. Absent for a shared directory. */
  readonly fsckReplay?: CommandEvidence;
  readonly fsck?: CommandEvidence;
  readonly mounted: boolean;
  readonly mountError?: string;
  /** The data directory looked empty: the server's image would have initialised a new database. */
  readonly dataDirectoryEmpty: boolean;
  readonly starts: readonly ServerStart[];
  /** True when every row was read to the end. */
  readonly ledgerComplete: boolean;
  readonly ledgerError?: string;
  /** Rows read; the rows themselves are in the history's segment `rows-<image>`. */
  readonly ledgerRows: number;
  readonly balances: Readonly<Record<number, number>>;
  /** Absent where they were not read, and in histories before version 3. */
  readonly documents?: DocumentsFound;
  /** Likewise. */
  readonly schema?: SchemaFound;
  /** Likewise. */
  readonly login?: LoginFound;
  readonly indexCounts: readonly IndexCount[];
  /** Content of the crash canaries found on the copy, by name. */
  readonly canaries: Readonly<Record<string, string>>;
  /** Parts that could not be read and why: the audit is incomplete. */
  readonly failures: readonly string[];
  /** Answered with an error by a living server; the ledger's own is `ledgerError`. Default none. */
  readonly sqlFailures?: readonly SqlFailure[];
  /** Which copy it is that was read. Absent before version 3, and of a copy that nobody labelled. */
  readonly opened?: CopyIdentity;
  /** UUID of the file system: a new one means that it was formatted anew. */
  readonly filesystemUuid?: string;
  /** What the data directory calls itself: a new one means that the data directory was initialised anew. */
  readonly serverUuid?: string;
  /** How long each step of the audit took, ms. */
  readonly durationsMs?: Readonly<Record<string, number>>;
}

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
