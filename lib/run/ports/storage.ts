/**
 * The port to the storage behind the volume, seen from outside the nodes: what a fault may do to it,
 * and copies of it as it is at one moment.
 */
import type { SeveredLink } from '../../scenario/index.ts';
import type { ImageLabel, CopyIdentity } from '../../history/index.ts';

/** What was done, and how it is known. */
export interface Proof {
  readonly verified: boolean;
  readonly evidence: string;
}

/**
 * The volume's backend, seen from outside the nodes. Copies it has to make; the rest is absent where a
 * storage can't do it (capability in brackets), and a scenario that needs it is refused before it begins.
 */
export interface Disk {
  /**
   * Copies the volume as it is at one moment; the given nodes are frozen where that needs it. Rejects
   * when aborted, whatever the disk is still at.
   */
  copy(label: ImageLabel, freeze: readonly string[], signal?: AbortSignal): Promise<CopyIdentity>;
  /** Cuts every path of the node to the volume for good; what it had written stays. Idempotent. [`fence`] */
  readonly fence?: (node: string) => Promise<Proof>;
  /**
   * The node's path to the storage stalls (requests are held, and answered after the restoring) or
   * fails (each request is an I/O error) until it is restored. Paths that are opened later likewise.
   * [`storage-link`]
   */
  readonly sever?: (node: string, how: SeveredLink) => Promise<Proof>;
  /**
   * The path works again, except where it was cut; idempotent, also where nothing was severed.
   * [`storage-link`]
   */
  readonly restore?: (node: string) => Promise<Proof>;
  /**
   * The node's machine loses power: every path of it to the volume is cut for good, and what it had
   * written but not flushed is kept, dropped, reordered or torn, as the scenario's `powerLoss` says.
   * Right before the cut `canary` is written through the node's mount, and never synced. [`power-loss`]
   */
  readonly losePower?: (node: string, canary: string) => Promise<Proof>;
  /** Frees what a dead node left attached on the machine (loop devices); idempotent. [`power-loss`] */
  readonly releaseDead?: (node: string) => Promise<void>;
  /**
   * Through the node's mount. Lays the ground for the unsynced one, too, which `losePower` writes.
   * [`power-loss`]
   */
  readonly writeSyncedCanary?: (node: string, content: string) => Promise<void>;
  /** Puts the volume's log of writes into the run's history. Absent where the disk keeps none. */
  readonly exportWrites?: (folder: string, signal?: AbortSignal) => Promise<void>;
}
