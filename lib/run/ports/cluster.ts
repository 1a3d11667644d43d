/**
 * The port between an experiment and the cluster it breaks. `kind` implements it on real machines,
 * `sim` on a model; everything above uses only this and is the same code on both. One contract
 * test (test/contract) holds both to it.
 */
import { able, type Able, type Capability, type Clock } from '../../core/index.ts';
import type {
  ImageEvidence,
  LedgerRow,
  GroupView,
  SetupRecord,
  Timers,
  Recorder,
  ImageLabel,
  VolumeIdentity,
  ClientSide,
  PodRef,
} from '../../history/index.ts';
import type { Database } from './database.ts';
import type { LedgerReading } from './group-port.ts';
import type { Scenario } from '../../scenario/index.ts';
import type { Disk } from './storage.ts';
import type { Writers, WriterSpec } from '../workload/port.ts';
import type { MachineWith } from './machine-port.ts';
import type { OutOfBandShell } from './node-shell.ts';

/** A container as its kubelet last reported it. */
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

/** With one server on one volume. */
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

/** One volume's. */
export interface TestbedOptions {
  /** The same one for all volumes of a run. */
  readonly database: Database;
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

/** A part of the control plane that a fault may break. */
export type Component = 'controller-manager' | 'api-server' | 'attacher';

/** Verbs that a cluster lacks are absent, as those of its other ports (port.ts). */
export interface ControlPlane {
  /** Ends the component's process at once; Kubernetes starts another one. [`component-kill`] */
  kill?(component: Component): Promise<void>;
  /** Makes it stand still: it answers nobody, and none takes its place. Idempotent. [`component-stall`] */
  stall?(component: Component): Promise<void>;
  /** Lets it go on. Idempotent. [`component-stall`] */
  resume?(component: Component): Promise<void>;
  /** Which process it is now; undefined while there is none. [`component-kill`, `component-stall`] */
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
