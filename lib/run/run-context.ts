/** What a run is given, and what its phases share. */
import { able, type Capability } from '../core/index.ts';
import type {
  Backend,
  BreakableTestbed,
  KubernetesTestbed,
  TestbedOptions,
} from './ports/cluster.ts';
import type { PodRef, ImageLabel } from '../history/index.ts';
import type { Database } from './ports/database.ts';
import type { StruckVolume } from './faults/fault.ts';
import type { Writers } from './workload/port.ts';
import type { Custom } from './custom.ts';
import { capabilitiesFor } from './needs.ts';
import type { Listeners, ObservedRun } from './shell.ts';
import type { Sightings } from '../judge/index.ts';
import type { Steps } from './steps.ts';

/** One volume of a run, with a database of its own. */
export interface VolumeRunOptions
  extends Omit<TestbedOptions, 'recorder' | 'signal' | 'database'>,
    Listeners {
  /** Paste-ready command that repeats it alone. */
  readonly replay: string;
}

/** What the volumes of a run have in common: one cluster, one kind of database, one fault, one interrupt. */
export interface EventOptions {
  readonly backend: Backend;
  readonly database: Database;
  /** The caller's own parts. Default: all is ours. */
  readonly custom?: Custom;
  readonly signal: AbortSignal;
}

/** A run of one volume. */
export interface RunOptions extends VolumeRunOptions, EventOptions {}

/** What is struck, once for all volumes. */
export interface RunEvent extends Omit<EventOptions, 'backend'> {
  /** It has what the run needs. */
  readonly cluster: BreakableTestbed<Capability>;
}

/** One volume in its run. */
export interface Run extends Omit<VolumeRunOptions, 'folder'>, ObservedRun<KubernetesTestbed> {
  readonly steps: Steps;
  readonly sightings: Sightings;
  /** No other volume waits for what this one could do later. */
  readonly isAlone: boolean;
  /** Audits that fall into the waits for other volumes: one after the other they take minutes. */
  readonly audits: Promise<unknown>[];
  /** They end with the run, however far it comes. */
  readonly begun: { writers?: Writers };
}

export const auditOf = ({ shell, steps }: Run, image: ImageLabel): Promise<void> =>
  shell.bounded('audit', async (signal) => steps.cold?.audit(image, signal));

/** A volume whose database runs on the node that is struck. */
export interface Struck extends Run {
  readonly writers: Writers;
  readonly victim: PodRef;
  /** What of it faults and remedies may touch. */
  readonly volume: StruckVolume<Capability>;
}

/** Throws as `able`. */
export function volumeOf(
  { database, custom }: RunEvent,
  { steps, recorder, scenario }: Run,
  pod: PodRef,
): StruckVolume<Capability> {
  const { disk, pods } = steps.breakable(pod);
  const needs = capabilitiesFor(scenario, { ...custom, database });
  return {
    ...{ pod, recorder, scenario },
    disk: able(disk, 'disk', needs),
    pods: able(pods, 'pods', needs),
  };
}
