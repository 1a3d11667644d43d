/** Which volume a run is about, and which copy of it an audit opened: told by each who handles one. */
import type { Provisioning } from './provisioning.ts';

/** The volume as it was when its database was new. */
export interface VolumeIdentity {
  /** Its handle at the backend. */
  readonly volume: string;
  /** Absent for a shared directory, which has no file system of its own. */
  readonly filesystemUuid?: string | undefined;
  /** As the server told it. */
  readonly serverUuid?: string;
  /** How it came about; absent where it was there before its claim. */
  readonly provisioning?: Provisioning;
}

/** One copy. Whoever makes it and whoever opens it tell the same of it, or it is not the same. */
export interface CopyIdentity {
  /** Drawn for this copy, and for no other. */
  readonly copy: string;
  /** Handle of the volume that was copied. */
  readonly volume: string;
  /** Of the volume's latest attachment by then; 0 for a shared directory, which has none. */
  readonly generation: number;
  readonly bytes: number;
  /** Which file it is, and when its content or its name last changed. */
  readonly stamp: string;
  /** Over a part of its content, which `copy` chooses. */
  readonly digest: string;
  /** Absent for a shared directory, and where the copy has no file system. */
  readonly filesystemUuid?: string | undefined;
}
