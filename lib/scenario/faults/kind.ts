/**
 * What a fault is, as data: its words, its traits, its own fields and its effect. The run (declared.ts and probes.ts
 * beside this folder) and the sweep (lib/sweep/play.ts) carry the same effect out.
 */
import type { KindDeclaration } from '../kinds.ts';
import type { When } from '../../core/index.ts';

/** Done to the victim, to its volumes or to the control plane. */
export type FaultAct =
  | 'nothing'
  /** Network and, where the scenario's `fault.link` says so, the way to the disk. */
  | 'disconnect'
  | 'reconnect'
  | 'isolate'
  | 'rejoin'
  | 'freeze'
  | 'thaw'
  | 'stall kubelet'
  | 'stall runtime'
  | 'stall containerd'
  | 'resume agents'
  | 'restart kubelet'
  | 'throttle'
  | 'set clock back'
  | 'set clock right'
  | 'unthrottle'
  /** Its processes and what the disk has not got; what the disk has not flushed, as `powerLoss` says. */
  | 'crash'
  | 'boot'
  /** In order, by what runs there itself. */
  | 'shut down'
  /** It ends its kubelet, and never comes to its containers. */
  | 'hang in shutdown'
  /** Off, if it is not yet, and on again. */
  | 'power cycle'
  | 'kill controller-manager'
  | 'fail over controller-manager'
  | 'await controller-manager'
  | `${'stall' | 'resume'} ${'controller-manager' | 'api-server' | 'attacher' | 'control-plane'}`
  /** Again where it `repeats`, with another value. */
  | 'annotate lease'
  | 'clear lease';

/** What is claimed of the victim or of the control plane, in the words of certificates. */
export const claims = {
  'victim runs': 'the victim runs',
  'victim runs again': 'the victim runs again',
  'victim still runs': 'the victim itself still runs',
  'victim frozen': 'the victim stands still',
  'victim down': 'the victim is down',
  'API reached': 'the victim reaches the API server',
  'API not reached': 'the victim does not reach the API server',
  'clients reach': 'the outside network reaches the victim',
  'clients do not reach': 'the outside network does not reach the victim',
  'agents run': 'kubelet and containerd run',
  'kubelet stalled': 'the kubelet stands still',
  'containerd stalled': 'containerd stands still',
  'runtime stalled': 'kubelet and containerd stand still',
  'CPU time': 'the victim has CPU time',
  'no CPU time': 'the victim lacks CPU time',
  'clock right': 'the clock of the victim is right',
  'clock behind': 'the clock of the victim is behind',
  'controller-manager runs': 'the controller manager runs',
  'controller-manager stalled': 'the controller manager stands still',
  'api-server runs': 'the API server runs',
  'api-server stalled': 'the API server stands still',
  'attacher runs': 'the csi-attacher runs',
  'attacher stalled': 'the csi-attacher stands still',
  'control-plane runs': 'the node of the control plane runs',
  'control-plane stalled': 'the node of the control plane stands still',
  'lease annotated': 'somebody writes to the victim’s Lease',
  'lease not annotated': 'nobody wrote to the victim’s Lease',
} as const;
export type FaultProbe = keyof typeof claims;

/** Fields by their keys among its own. */
export interface FaultEffect {
  readonly breaks: FaultAct;
  /** Idempotent. */
  readonly mends: FaultAct;
  /** Only where this field is true; otherwise the victim stays broken until the clean-up. */
  readonly mendsIf?: string;
  /** Mended at the moment of this field, without waiting for the heal. */
  readonly mendsAt?: string;
  /** Mended after the first field's time and broken again after the second's, by turns. */
  readonly turns?: readonly [brokenMs: string, wholeMs: string];
  /** Broken again, so often. */
  readonly repeatsMs?: number;
  /** Holds before the fault, and after it where `mended` is absent. */
  readonly whole: readonly FaultProbe[];
  readonly mended?: readonly FaultProbe[];
  /** Holds once it is there. */
  readonly broken: readonly FaultProbe[];
  /** Holds from then on until the heal. Default: `broken`; nothing of a fault that ends or changes by itself. */
  readonly lasts?: readonly FaultProbe[];
}

/** What judges, the model and batches read of a fault. */
export interface FaultTraits {
  /** Breaks the control plane: it needs no victim, and so may come beside another fault. */
  readonly isOfControlPlane?: true;
  /** From the start, the API server hears nothing more of the victim's kubelet for a while. */
  readonly silencesKubelet?: true;
  /** Once it is in place nothing runs on the victim, and nothing is mounted there. */
  readonly endsMachine?: true;
  /** Ends the victim's processes at once, and takes what they had not given to the disk. */
  readonly losesPower?: true;
  /** While it lasts the victim answers nobody outside. */
  readonly cutsClientsOff?: true;
  /** Over as soon as it is there: nothing is given back. */
  readonly isOverAtOnce?: true;
  /** Broken once and mended once: volumes of a batch may share one event of it. */
  readonly sharesEvents?: true;
  /** Of a node, beside another fault: it may come to a second one. */
  readonly strikesSecond?: true;
  /** The API server answers nobody while it lasts. */
  readonly silencesApi?: true;
  /** Nothing on the control plane's node runs, nor writes a log, while it lasts. */
  readonly stopsControlPlane?: true;
  /** Beside another: its node is NotReady later, since its Lease is written or the monitor away or new. */
  readonly delaysNotReady?: true;
  /** Beside another: ends the controller manager, or lets a detach time out (#120595). */
  readonly unsettlesAttachments?: true;
}

export interface FaultDeclaration extends KindDeclaration, FaultTraits, FaultEffect {
  /** Question of an experiment that has no other. */
  readonly question: string;
  /** A clause for the report. */
  readonly words: string;
  /** To the victim, and what proves it while it lasts; Markdown, for the page. */
  readonly happens: string;
  readonly certificate: string;
  /** The heal waits until it has lasted so long: a shorter one may pass unseen. Default: a heartbeat. */
  readonly leastMs?: number;
}

/** A kubelet renews its lease so often (kubelet.go nodeLeaseRenewIntervalFraction × 40 s). */
export const heartbeatMs = 10_000;

export type DeclaredFault = FaultDeclaration & { readonly leastMs: number };

export const faultKind = <const Fault extends FaultDeclaration>(
  fault: Fault,
): Fault & DeclaredFault => ({ leastMs: heartbeatMs, ...fault });

/** Empty where nothing can be probed between its begin and its heal. */
export const lastingProbes = ({
  lasts,
  broken,
  isOverAtOnce,
}: FaultDeclaration): readonly FaultProbe[] => lasts ?? (isOverAtOnce ? [] : broken);

/** A scenario, of which its fault's own fields are read. */
interface Struck {
  readonly fault: object;
}

/** How long it is broken, and whole again, by turns; undefined where it takes none. */
export const turnsMsOf = (
  { turns }: FaultEffect,
  { fault }: Struck,
): readonly number[] | undefined => turns?.map((field) => Number(Reflect.get(fault, field)));

/** When it is mended without waiting for the heal; undefined where it waits. */
export const mendsAtOf = ({ mendsAt }: FaultEffect, { fault }: Struck): When | undefined =>
  mendsAt === undefined ? undefined : (Reflect.get(fault, mendsAt) as When);

/** Whether the heal leaves it as it is, until the clean-up. */
export const staysBroken = ({ mendsIf }: FaultEffect, { fault }: Struck): boolean =>
  mendsIf !== undefined && Reflect.get(fault, mendsIf) === false;
