/**
 * The port to the storage behind the volume, seen from outside the nodes: what a fault may do to it,
 * and copies of it as it is at one moment.
 */
import type { SeveredLink } from '../disk-kinds.ts';
import type { ImageLabel } from './identity.ts';
import type { CopyIdentity } from './identity.ts';

/** What was done, and how it is known. */
export interface Proof {
  readonly verified: boolean;
  readonly evidence: string;
}

/** The volume's backend, seen from outside the nodes. */
export interface Disk {
  /**
   * The node's machine loses power: every path of it to the volume is cut for good, and what it had
   * written but not flushed is kept, dropped, reordered or torn, as the scenario's `powerLoss` says.
   * Right before the cut `canary` is written through the node's mount, and never synced.
   */
  losePower(node: string, canary: string): Promise<Proof>;
  /** Cuts every path of the node to the volume for good; what it had written stays. Idempotent. */
  fence(node: string): Promise<Proof>;
  /**
   * The node's path to the storage stalls (requests are held, and answered after the restoring) or
   * fails (each request is an I/O error) until it is restored. Paths that are opened later likewise.
   */
  sever(node: string, how: SeveredLink): Promise<Proof>;
  /** The path works again, except where it was cut; idempotent, also where nothing was severed. */
  restore(node: string): Promise<Proof>;
  /** Frees what a dead node left attached on the machine (loop devices); idempotent. */
  releaseDead(node: string): Promise<void>;
  /** Through the node's mount. Lays the ground for the unsynced one, too, which `losePower` writes. */
  writeSyncedCanary(node: string, content: string): Promise<void>;
  /**
   * Copies the volume as it is at one moment; the given nodes are frozen where that needs it. Rejects
   * when aborted, whatever the disk is still at.
   */
  copy(label: ImageLabel, freeze: readonly string[], signal?: AbortSignal): Promise<CopyIdentity>;
  /** Puts the volume's log of writes into the run's history, where the disk keeps one. */
  exportWrites(folder: string, signal?: AbortSignal): Promise<void>;
}
