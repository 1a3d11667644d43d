/** What a fault says of itself; how it is broken, proven and mended is in the file of its name beside this folder. */
import type { KindDeclaration } from '../../fields/of-kinds.ts';

interface FaultDeclaration extends KindDeclaration {
  /** Question of an experiment that has no other. */
  readonly question: string;
  /** To the victim, and what proves it while it lasts; Markdown, for the page. */
  readonly happens: string;
  readonly certificate: string;
  /** Breaks the control plane: it needs no victim, and so may come beside another fault. */
  readonly isOfControlPlane?: true;
  /** At once and for a while the API server hears nothing more of the victim's kubelet. */
  readonly silencesKubelet?: true;
  /** Ends the victim's processes at once, and takes what they had not given to the disk. */
  readonly losesPower?: true;
  /** The heal waits until it has lasted so long: a shorter one may pass unseen. Default: a heartbeat. */
  readonly leastMs?: number;
}

/** A kubelet renews its lease so often (kubelet.go nodeLeaseRenewIntervalFraction × 40 s). */
export const heartbeatMs = 10_000;

export const faultKind = <const Fault extends FaultDeclaration>(
  fault: Fault,
): Fault & Pick<Required<FaultDeclaration>, 'leastMs'> => ({ leastMs: heartbeatMs, ...fault });
