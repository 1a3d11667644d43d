/** What a fault says of itself; how it is broken, proven and mended is in the file of its name beside this folder. */
import type { KindDeclaration } from '../../fields/of-kinds.ts';

/** What judges, the model and batches ask of a fault. */
export interface FaultTraits {
  /** Breaks the control plane: it needs no victim, and so may come beside another fault. */
  readonly isOfControlPlane?: true;
  /** At once and for a while the API server hears nothing more of the victim's kubelet. */
  readonly silencesKubelet?: true;
  /** Ends the victim's processes at once, and takes what they had not given to the disk. */
  readonly losesPower?: true;
  /** While it lasts the victim answers nobody outside. */
  readonly cutsClientsOff?: true;
  /** Over as soon as it is there: nothing is given back. */
  readonly isOverAtOnce?: true;
  /** Broken once and mended once: volumes of a batch may share one event of it. */
  readonly sharesEvents?: true;
  /** Beside another: its node is NotReady later, since its Lease is written or the monitor away or new. */
  readonly delaysNotReady?: true;
  /** Beside another: ends the controller manager, or lets a detach time out (#120595). */
  readonly unsettlesAttachments?: true;
}

interface FaultDeclaration extends KindDeclaration, FaultTraits {
  /** Question of an experiment that has no other. */
  readonly question: string;
  /** To the victim, and what proves it while it lasts; Markdown, for the page. */
  readonly happens: string;
  readonly certificate: string;
  /** The heal waits until it has lasted so long: a shorter one may pass unseen. Default: a heartbeat. */
  readonly leastMs?: number;
}

/** A kubelet renews its lease so often (kubelet.go nodeLeaseRenewIntervalFraction × 40 s). */
export const heartbeatMs = 10_000;

export const faultKind = <const Fault extends FaultDeclaration>(
  fault: Fault,
): Fault & { readonly leastMs: number } => ({ leastMs: heartbeatMs, ...fault });
