/** The port between an experiment and the cluster it breaks. `kind` implements it on real machines, `sim` on a model; everything above uses only this and is the same code on both. One contract test (test/contract) holds both to it. */
import { type Able, type Capability, able, type Clock } from '../../core/index.ts';
import type {
  ImageLabel,
  CopyIdentity,
  ImageEvidence,
  LedgerRow,
  GroupView,
  SetupRecord,
  Timers,
  Recorder,
  VolumeIdentity,
  ClientSide,
  PodRef,
} from '../../history/index.ts';
import type { Database, LedgerReading } from './database.ts';
import type { OutOfBandShell } from './node-shell.ts';
import type { Writers, WriterSpec } from '../workload.ts';
import type { SeveredLink, Scenario } from '../../scenario/index.ts';

/** What of a node can be made to stand still, and the agents that are meant. */
export const stalls = {
  kubelet: ['kubelet'],
  containerd: ['containerd'],
  runtime: ['kubelet', 'containerd'],
} as const;
export type Stall = keyof typeof stalls;

/** What it is asked, every cluster answers; what is done to it, not each one can. All idempotent. */
export interface Machine {
  readonly node: string;
  /** `running`, `frozen` or `stopped`. */
  state(): Promise<'running' | 'frozen' | 'stopped'>;
  stalled(): Promise<readonly string[]>;
  /** Whether this node can reach the API server now (asked on the node itself). */
  reachesApi(): Promise<boolean>;
  /** Whether the outside client's network can reach this node now. */
  reachedFromOutside(): Promise<boolean>;
  /** Stops every process of the node. [`node-freeze`] */
  freeze?(): Promise<void>;
  /** [`node-freeze`] */
  thaw?(): Promise<void>;
  /** Ends every process of the node at once. [`node-power`] */
  kill?(): Promise<void>;
  /** As `poweroff` does; resolves once it is off, or after so long. [`node-shutdown`] */
  shutDown?(withinMs: number): Promise<void>;
  /** It begins to shut down and never ends that; verified where its kubelet is gone. [`node-shutdown`] */
  hangInShutdown?(): Promise<Proof>;
  /** Boots a killed node, networking restored. [`node-power`] */
  start?(): Promise<void>;
  /** Takes the node off the cluster's network. [`node-network`] */
  disconnect?(): Promise<void>;
  /** Puts it back with its old address and routes. [`node-network`] */
  reconnect?(): Promise<void>;
  /** Drops all that passes between the node and the control plane; the rest of its network works. [`node-isolation`] */
  isolate?(): Promise<void>;
  /** Lets it pass again. [`node-isolation`] */
  rejoin?(): Promise<void>;
  /** Makes these agents stand still (kind: SIGSTOP); the containers that they started run on. [`agent-stall`] */
  stall?(what: Stall): Promise<void>;
  /** Lets every agent go on. [`agent-stall`] */
  resume?(): Promise<void>;
  /** Ends the kubelet and starts it again; resolves to its process before and after. [`kubelet-restart`] */
  restartKubelet?(): Promise<{
    readonly before: string | undefined;
    readonly after: string | undefined;
  }>;
  /** Ends every database process of the node at once (SIGKILL); verified where there was one. [`server-kill`] */
  killServer?(): Promise<Proof>;
  /** Leaves all processes of the node together this share of one CPU. [`cpu-limit`] */
  throttle?(share: number): Promise<void>;
  /** [`cpu-limit`] */
  unthrottle?(): Promise<void>;
  /** In which share of the scheduler's periods, now, that limit stops processes. [`cpu-limit`] */
  throttled?(): Promise<number>;
  /** By so much from what is right; 0 sets it right. [`node-clock`] */
  setClockBack?(ms: number): Promise<void>;
  /** How far it is behind. [`node-clock`] */
  clockBackMs?(): Promise<number>;
}

export type MachineWith<C extends Capability> = Able<Machine, 'machine', C>;

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
  /** From now on Kubernetes' calls about the volume are answered as the scenario's `calls` say. [`failing-calls`] */
  readonly answerCalls?: (calls: string) => Promise<void>;
  /** Puts the volume's log of writes into the run's history. Absent where the disk keeps none. */
  readonly exportWrites?: (folder: string, signal?: AbortSignal) => Promise<void>;
}

export interface ContainerReport {
  readonly state: 'running' | 'waiting' | 'terminated';
  readonly ready: boolean;
  /** Kubernetes' word for why it does not run, such as `CrashLoopBackOff`. */
  readonly reason?: string;
}

/**
 * What may be asked of Kubernetes about one volume: its pods and its attachments. Here and below: what a
 * cluster can't do is absent (capability in brackets), and a scenario that needs it is refused before it begins.
 */
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
  /** Changes the pod's template, as `kubectl rollout restart`. [`rollout`] */
  restartRollout?(): Promise<void>;
  /** Deletes the volume's VolumeAttachments there, their finalizers too where asked; resolves to their names. [`attachment-deletion`] */
  deleteAttachments?(
    node: string,
    options: { readonly stripFinalizers: boolean },
  ): Promise<readonly string[]>;
}

/** What may be asked of Kubernetes about a node: it meets every volume there. */
export interface NodeKubernetes {
  /** Deletes the Node object; idempotent. The machine is left as it is. [`node-deletion`] */
  deleteNode?(node: string): Promise<void>;
  /** [`node-deletion`] */
  hasNode?(node: string): Promise<boolean>;
  /** Cordons, evicts, and waits, as `kubectl drain --timeout`; `answer` is its last word. [`drain`] */
  drain?(
    node: string,
    timeoutMs: number,
  ): Promise<{ readonly drained: boolean; readonly answer: string }>;
  /** Idempotent. [`drain`] */
  uncordon?(node: string): Promise<void>;
  /** Sets a taint; idempotent. [`node-taint`] */
  taint?(
    node: string,
    taint: { key: string; value: string; effect: 'NoExecute' | 'NoSchedule' },
  ): Promise<void>;
  /** Annotates the Node with a proof that it is fenced: how, and since now. [`admission-policy`] */
  stateFenced?(node: string, how: string): Promise<void>;
  /** Takes all taints with this key away; idempotent. [`node-taint`] */
  untaint?(node: string, key: string): Promise<void>;
  /**
   * Writes an annotation to the node's Lease, as any tool may, and renews nothing; undefined takes it
   * away. Idempotent. No error when there is no such Lease. [`lease-annotation`]
   */
  annotateLease?(node: string, value: string | undefined): Promise<void>;
  /** What is written there. [`lease-annotation`] */
  leaseAnnotation?(node: string): Promise<string | undefined>;
  /** True when there is such a node and its Ready condition is True. */
  isReady(node: string): Promise<boolean>;
}

export type Kubernetes<C extends Capability = never> = Able<PodKubernetes, 'pods', C> &
  Able<NodeKubernetes, 'kubernetes', C>;

/** Machines with a database on them: what every run has, whatever it does to them. */
export interface CommonTestbed
  extends Pick<SetupRecord, 'timers' | 'versions' | 'nodes' | 'volume'> {
  readonly clock: Clock;
  /** Observers begin to record; stops them when disposed. */
  observe(recorder: Recorder): Promise<AsyncDisposable>;
}

/**
 * The part of a cluster that a fault strikes and an operator mends: one for all volumes of a run. What
 * is of one volume is not in it. `C`: what it is known to have of what not every one has.
 */
export interface BreakableTestbed<C extends Capability = never>
  extends Pick<CommonTestbed, 'clock' | 'nodes'> {
  readonly kubernetes: Able<NodeKubernetes, 'kubernetes', C>;
  readonly controlPlane: Able<ControlPlane, 'controlPlane', C>;
  machine(node: string): MachineWith<C>;
  /** Only faults and remedies from outside use it. [`node-shell`] */
  shell?(node: string): OutOfBandShell;
}

/** The same one, known to have these. Throws as `able`. */
export function breakableBy<C extends Capability>(
  testbed: BreakableTestbed,
  needs: readonly C[],
): BreakableTestbed<C> {
  const machine = (node: string): MachineWith<C> => able(testbed.machine(node), 'machine', needs);
  testbed.nodes.forEach(machine);
  return {
    ...able(testbed, 'testbed', needs),
    kubernetes: able(testbed.kubernetes, 'kubernetes', needs),
    controlPlane: able(testbed.controlPlane, 'controlPlane', needs),
    machine,
  };
}

/** One cluster with a database on it, of however many servers: what a scenario is played on. */
export interface KubernetesTestbed<C extends Capability = never>
  extends CommonTestbed,
    BreakableTestbed<C> {
  readonly timers: Timers;
  readonly kubernetes: Kubernetes<C>;
  startWriters(specs: readonly WriterSpec[]): Promise<Writers>;
}

export interface Testbed<C extends Capability = never> extends KubernetesTestbed<C> {
  readonly volume: VolumeIdentity;
  readonly disk: Able<Disk, 'disk', C>;
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

export interface Opened<T> extends Closes {
  /** By the order in which they were asked for. One that failed has removed what it made. */
  readonly volumes: readonly PromiseSettledResult<T>[];
}

/** Volumes with a database each, all on one node of one cluster. */
export interface OpenedCluster<T, C extends Capability = never> extends Opened<T> {
  readonly cluster: BreakableTestbed<C>;
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
  /** [`replication-group`] */
  openGroup?(options: TestbedOptions): Promise<GroupTestbed & Closes>;
}

export interface TestbedOptions {
  /** The same one for all volumes of a run. */
  readonly database: Database;
  readonly scenario: Scenario;
  readonly runId: string;
  readonly seed: string;
  /** The volume's own; history segments go to `<folder>/history`. */
  readonly folder: string;
  readonly recorder: Recorder;
  readonly onProgress: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface Auditor {
  /**
   * Starts the server on a cold copy of the image and reads everything. Rows stream into `onRow`. Rejects
   * when aborted, once nothing of it runs any more.
   */
  audit(
    image: ImageLabel,
    onRow: (row: LedgerRow) => void,
    signal?: AbortSignal,
  ): Promise<ImageEvidence>;
}

/** `control-plane`: its node, with all that runs there. */
export type Component = 'controller-manager' | 'api-server' | 'attacher' | 'control-plane';

/** Verbs that a cluster lacks are absent, as those of its other ports . */
export interface ControlPlane {
  /** Ends the controller manager's process at once; Kubernetes starts another one. [`component-kill`] */
  kill?(): Promise<void>;
  /** Ends the leading controller manager while a standby waits for its lease. [`standby-manager`] */
  failOver?(): Promise<void>;
  /** Makes it stand still: it answers nobody, and none takes its place. Idempotent. [`component-stall`] */
  stall?(component: Component): Promise<void>;
  /** Lets it go on. Idempotent. [`component-stall`] */
  resume?(component: Component): Promise<void>;
  /** Which process it is now; undefined while there is none. [`component-kill`, `component-stall`, `standby-manager`] */
  look?(component: Component): Promise<ComponentLook>;
}

export interface ComponentLook {
  readonly process: string | undefined;
  readonly stalled: boolean;
}

export const openedAlone =
  <T extends KubernetesTestbed>(
    open: (options: TestbedOptions) => Promise<T & Closes>,
  ): ((volumes: readonly TestbedOptions[]) => Promise<OpenedCluster<T>>) =>
  async ([volume, ...others]) => {
    if (volume === undefined || others.length > 0) throw new RangeError('it is opened alone');
    const cluster = await open(volume);
    const volumes = [{ status: 'fulfilled', value: cluster }] as const;
    return { cluster, volumes, close: () => cluster.close() };
  };
