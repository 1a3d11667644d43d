/**
 * The port between an experiment and the cluster it breaks. `kind` implements it on real machines,
 * `sim` on a model; everything above uses only this and is the same code on both. One contract
 * test (test/contract) holds both to it.
 */
import type { LedgerRow } from '../checkers/evidence.ts';
import type { LedgerReading } from '../database/group-port.ts';
import type { GroupView } from '../database/group-views.ts';
import type { Scenario } from '../experiment/scenario.ts';
import type { Timers, SetupRecord } from '../history/events.ts';
import type { Recorder } from '../history/port.ts';
import type { VolumeIdentity } from '../storage/identity.ts';
import type { Disk, Proof } from '../storage/port.ts';
import type { Writers, WriterSpec } from '../workload/port.ts';
import type { ClientSide } from '../workload/sql.ts';
import type { Clock } from '../clock.ts';
import type { Auditor } from './auditor-port.ts';
import type { ControlPlane } from './control-plane-port.ts';
import type { OutOfBandShell } from './node-shell.ts';

export interface PodRef {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}

/** A container as its kubelet last reported it. */
export interface ContainerReport {
  readonly state: 'running' | 'waiting' | 'terminated';
  readonly ready: boolean;
  /** Kubernetes' word for why it does not run, such as `CrashLoopBackOff`. */
  readonly reason?: string;
}

/** What may be asked of Kubernetes about one volume: its pods and its attachments. */
export interface PodKubernetes {
  /**
   * The database's pod, or undefined while there is none bound to a node. Where an old pod is still
   * Terminating beside its replacement (Deployment), it is the replacement.
   */
  databasePod(): Promise<PodRef | undefined>;
  /** The pod's database container; undefined where the pod is gone or nothing was reported yet. */
  databaseContainer(pod: PodRef): Promise<ContainerReport | undefined>;
  /** DELETE with grace period 0. No error when that pod is gone already. */
  forceDelete(pod: PodRef): Promise<void>;
  /** A plain DELETE: the object stays until its kubelet confirms. No error when it is gone already. */
  deletePod(pod: PodRef): Promise<void>;
  /** Takes every finalizer of the pod away. No error when it is gone already. */
  stripPodFinalizers(pod: PodRef): Promise<void>;
  /** Deletes the volume's VolumeAttachments there, their finalizers too where asked; resolves to their names. */
  deleteAttachments(
    node: string,
    options: { readonly stripFinalizers: boolean },
  ): Promise<readonly string[]>;
}

/** What may be asked of Kubernetes about a node: it meets every volume there. */
export interface NodeKubernetes {
  /** Deletes the Node object; idempotent. The machine is left as it is. */
  deleteNode(node: string): Promise<void>;
  hasNode(node: string): Promise<boolean>;
  /** Cordons, evicts, and waits, as `kubectl drain --timeout`; `answer` is its last word. */
  drain(
    node: string,
    timeoutMs: number,
  ): Promise<{ readonly drained: boolean; readonly answer: string }>;
  /** Idempotent. */
  uncordon(node: string): Promise<void>;
  /** Sets a taint; idempotent. */
  taint(
    node: string,
    taint: { key: string; value: string; effect: 'NoExecute' | 'NoSchedule' },
  ): Promise<void>;
  /** Takes all taints with this key away; idempotent. */
  untaint(node: string, key: string): Promise<void>;
  /**
   * Writes an annotation to the node's Lease, as any tool may, and renews nothing; undefined takes it
   * away. Idempotent. No error when there is no such Lease.
   */
  annotateLease(node: string, value: string | undefined): Promise<void>;
  /** What is written there. */
  leaseAnnotation(node: string): Promise<string | undefined>;
  /** True when there is such a node and its Ready condition is True. */
  isReady(node: string): Promise<boolean>;
}

export interface Kubernetes extends PodKubernetes, NodeKubernetes {}

/** What of a node can be made to stand still, and the agents that are meant. */
export const stalls = { kubelet: ['kubelet'], runtime: ['kubelet', 'containerd'] } as const;
export type Stall = keyof typeof stalls;

/** What faults may do to one node's machine. All idempotent. */
export interface Machine {
  readonly node: string;
  /** Stops every process of the node. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** Ends every process of the node at once. */
  kill(): Promise<void>;
  /** Boots a killed node, networking restored. */
  start(): Promise<void>;
  /** Takes the node off the cluster's network. */
  disconnect(): Promise<void>;
  /** Puts it back with its old address and routes. */
  reconnect(): Promise<void>;
  /** Drops all that passes between the node and the control plane; the rest of its network works. */
  isolate(): Promise<void>;
  /** Lets it pass again. */
  rejoin(): Promise<void>;
  /** Makes these agents stand still (kind: SIGSTOP); the containers that they started run on. */
  stall(what: Stall): Promise<void>;
  /** Lets every agent go on. */
  resume(): Promise<void>;
  /** Agents that stand still now. */
  stalled(): Promise<readonly string[]>;
  /** Ends the kubelet and starts it again; resolves to its process before and after. */
  restartKubelet(): Promise<{
    readonly before: string | undefined;
    readonly after: string | undefined;
  }>;
  /** Ends every database process of the node at once (SIGKILL); verified where there was one. */
  killServer(): Promise<Proof>;
  /** Leaves all processes of the node together this share of one CPU. */
  throttle(share: number): Promise<void>;
  unthrottle(): Promise<void>;
  /** In which share of the scheduler's periods, now, that limit stops processes. */
  throttled(): Promise<number>;
  /** `running`, `frozen` or `stopped`. */
  state(): Promise<'running' | 'frozen' | 'stopped'>;
  /** Whether this node can reach the API server now (asked on the node itself). */
  reachesApi(): Promise<boolean>;
  /** Whether the outside client's network can reach this node now. */
  reachedFromOutside(): Promise<boolean>;
}

/** Machines with a database on them: what every run has, whatever it does to them. */
export interface CommonTestbed
  extends Pick<SetupRecord, 'timers' | 'versions' | 'nodes' | 'volume'> {
  readonly clock: Clock;
  /** Observers begin to record; stops them when disposed. */
  observe(recorder: Recorder): Promise<AsyncDisposable>;
}

/**
 * The part of a cluster that a fault strikes and an operator mends: one for all volumes of a run. What
 * is of one volume is not in it.
 */
export interface BreakableTestbed extends Pick<CommonTestbed, 'clock' | 'nodes'> {
  readonly kubernetes: NodeKubernetes;
  readonly controlPlane: ControlPlane;
  machine(node: string): Machine;
  /** The capability `node-shell`; absent without it. Only faults and remedies from outside use it. */
  shell?(node: string): OutOfBandShell;
}

/** One cluster with a database on it, of however many servers: what a scenario is played on. */
export interface KubernetesTestbed extends CommonTestbed, BreakableTestbed {
  readonly timers: Timers;
  readonly kubernetes: Kubernetes;
  startWriters(specs: readonly WriterSpec[]): Promise<Writers>;
}

/** With one server on one volume. */
export interface Testbed extends KubernetesTestbed {
  readonly volume: VolumeIdentity;
  readonly disk: Disk;
  readonly auditor: Auditor;
  /**
   * Removes the database and leaves its volume and the copies; nothing asks it after this. What
   * can't be removed yet is left for the end. Idempotent.
   */
  removeDatabase(): Promise<void>;
}

/** With several servers that replicate among themselves, each on a node and a volume of its own. */
export interface GroupTestbed extends KubernetesTestbed {
  /** Member pods, by node. */
  members(): ReadonlyMap<string, PodRef>;
  /** The backend of one member's volume. */
  disk(node: string): Disk;
  /** The newest views: by the outside network, and from each member's own node. */
  views(side: ClientSide): readonly GroupView[];
  /**
   * Reads a member's whole ledger from its own node, in primary key order. `upTo`: transactions for
   * which it waits first, bounded. Rejects where the member does not answer.
   */
  readLedger(
    node: string,
    upTo: string | undefined,
    onRow: (row: LedgerRow) => void,
  ): Promise<LedgerReading>;
}

export interface Closes {
  /** Removes all that the run made; the cluster itself stays when kept. Idempotent. */
  close(): Promise<void>;
}

/** What was opened for a run. */
export interface Opened<T> extends Closes {
  /** By the order in which they were asked for. One that failed has removed what it made. */
  readonly volumes: readonly PromiseSettledResult<T>[];
}

/** Volumes with a database each, all on one node of one cluster. */
export interface OpenedCluster<T> extends Opened<T> {
  readonly cluster: BreakableTestbed;
}

/** Makes testbeds: cluster up, volumes there, each one's database Ready with an empty schema. */
export interface Backend {
  /** Its name, for records and people: nothing is decided by it. Ours are `kind` and `sim`. */
  readonly backend: string;
  /**
   * It predicts: nothing of it is real. Of any other, whatever its name, all evidence is asked for that
   * real machines and a real control plane give.
   */
  readonly isModel: boolean;
  /** Runs from the backend's creation, which is the beginning of the run. */
  readonly clock: Clock;
  /** At least one; several agree in what makes a cluster. Rejects where there is no cluster for any. */
  open(volumes: readonly TestbedOptions[]): Promise<OpenedCluster<Testbed>>;
  /** The capability `replication-group`; absent without it. */
  openGroup?(options: TestbedOptions): Promise<GroupTestbed & Closes>;
}

/** One volume's. */
export interface TestbedOptions {
  readonly scenario: Scenario;
  readonly runId: string;
  readonly seed: string;
  /** The volume's own; history segments go to `<folder>/history`. */
  readonly folder: string;
  /** Recorder for what happens while opening. */
  readonly recorder: Recorder;
  /** Progress lines for the terminal. */
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}
