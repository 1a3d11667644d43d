/** The faults by name, and what the rest must know of each to judge a run. */

export const faultKinds = [
  /** Nothing is broken: what a remedy does to a healthy node. */
  'none',
  /** Every process and all that was not on the disk is gone; down until the heal. */
  'node-crash',
  /** The same, and the node boots again by itself at `rebootAt`. */
  'node-reboot',
  /** Off the cluster's network, alive and writing. */
  'network-partition',
  /** Off the control plane only: clients still reach the database. */
  'api-partition',
  /** Every process stands still until the heal: the zombie. */
  'freeze',
  /** The kubelet stands still; what it started runs on. */
  'kubelet-stall',
  /** Kubelet and containerd stand still. */
  'runtime-stall',
  /** The kubelet is ended and started again. */
  'kubelet-restart',
  /** Its processes get next to no CPU time. */
  'cpu-starvation',
  /** Off the network and back on it, over and over. */
  'flapping-partition',
  /** The control plane's: the controller manager is killed. */
  'controller-restart',
  /** The API server answers nobody. */
  'api-outage',
  /** The csi-attacher answers nobody. */
  'attacher-down',
  /** Somebody writes to the victim's Lease, and renews nothing. */
  'lease-write',
] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Faults of the control plane: they need no victim, and so may come beside another. */
export const controlPlaneFaults = [
  'controller-restart',
  'api-outage',
  'attacher-down',
  'lease-write',
] as const;

export const sparesVictim = (fault: FaultKind): boolean =>
  (controlPlaneFaults as readonly FaultKind[]).includes(fault);

/** At once and for a while the API server hears nothing more of the victim's kubelet. */
export const silencesKubelet = (fault: FaultKind): boolean =>
  !sparesVictim(fault) && !['none', 'kubelet-restart', 'cpu-starvation'].includes(fault);

/** Ends the victim's processes at once, and takes what they had not given to the disk. */
export const losesPower = (fault: FaultKind): boolean =>
  fault === 'node-crash' || fault === 'node-reboot';
