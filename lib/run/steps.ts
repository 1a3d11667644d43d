/**
 * What the run leaves to whatever database it tests: one server on a volume and a group of servers
 * answer it differently. Everything else, its order and its bounds, is the run's own.
 */
import type { Backend, KubernetesTestbed, OpenedCluster, TestbedOptions } from './ports/cluster.ts';
import type { PodRef, ImageLabel } from '../history/index.ts';
import type { StruckVolume } from './faults/fault.ts';
import type { Sightings } from '../judge/index.ts';

/** A database to a run: where it lives, and what the run needs of it there. */
export interface Tested<T extends KubernetesTestbed> {
  open(backend: Backend, volumes: readonly TestbedOptions[]): Promise<OpenedCluster<T>>;
  stepsOn(context: StepsContext<T>): Steps;
}

/** Given when the testbed is up. */
export interface StepsContext<T extends KubernetesTestbed>
  extends Pick<TestbedOptions, 'database' | 'recorder' | 'scenario' | 'folder' | 'onProgress'> {
  readonly testbed: T;
  readonly sightings: Sightings;
}

/** A signal is that of the step's bound. What a step rejects with ends in the history. */
export interface Steps {
  /** Whether all servers are there and say so, now. Default: where clients commit, all is there. */
  isWhole?(): boolean;
  /** The pod whose node is to be broken, right before. */
  victim(): Promise<PodRef>;
  /** What of the volume a fault or a remedy may touch. */
  breakable(victim: PodRef): Pick<StruckVolume, 'disk' | 'pods'>;
  /** Whether another server took over, and what the watch reports then: nothing where records show it. */
  readonly handOver: {
    hasHappened(victim: PodRef): boolean;
    readonly happened?: string;
    readonly none: string;
  };
  /** The heal waits at least so long from when the fault is there, beyond what the fault needs. */
  readonly leastMs: number;
  /**
   * Keeps what the database holds now: `steady` before the fault, `first` before the heal, `second`
   * once clients have stopped. Rejects where a database that is to be steady is not.
   */
  image(label: ImageLabel, signal: AbortSignal): Promise<void>;
  /** What is done with images from cold. Absent where living servers were read. */
  readonly cold?: {
    /** See `Testbed`: images are audited without it. */
    removeDatabase(): Promise<void>;
    /** Into the history; rejects where the `steady` one shows trouble. */
    audit(label: ImageLabel, signal: AbortSignal): Promise<void>;
    exportWrites(signal: AbortSignal): Promise<void>;
  };
  /** Clients read nothing back and leave the schema as it is: who reads is observed otherwise. */
  readonly writesOnly: boolean;
}
