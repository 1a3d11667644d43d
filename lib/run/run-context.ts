/** What a run is given, what its phases share, and what it leaves to whatever database it tests. */
import { type Capability, able } from '../core/index.ts';
import type { PodRef, ImageLabel } from '../history/index.ts';
import type { Sightings } from '../judge/index.ts';
import type { Custom } from './custom.ts';
import type { StruckVolume } from './faults/fault.ts';
import {
  breakableBy,
  type OpenedCluster,
  type Backend,
  type KubernetesTestbed,
  type TestbedOptions,
  type BreakableTestbed,
} from './ports/cluster.ts';
import type { Database } from './ports/database.ts';
import type { Listeners, ObservedRun } from './shell.ts';
import type { Writers } from './workload.ts';
import {
  databaseDeclarations,
  diskModeOf,
  faultDeclarations,
  valueAt,
  type KindDeclaration,
  remedyDeclarations,
  fields,
  type Scenario,
  fieldNames,
  type FieldName,
} from '../scenario/index.ts';

interface ClusterNeed {
  readonly capability: Capability;
  /** Who needs it: a value, and the field that has it. */
  readonly value: string;
  readonly field: FieldName;
}

const named = (kinds: readonly KindDeclaration[], name?: string): KindDeclaration | undefined =>
  kinds.find((kind) => kind.name === name);

/** Parts of a run that may be the caller's own. Default: ours. */
export type Parts = Custom & { readonly database?: Database };

/** A part of the caller's own takes what it declares, and not what the kind takes that it is like. */
export function needsOf(
  scenario: Scenario,
  { fault, remedy, database }: Parts = {},
): readonly ClusterNeed[] {
  const isOurs = database === undefined || database.real !== undefined;
  const own = isOurs ? undefined : { name: database.name, needs: ['own-database'] as const };
  const kinds = [
    ['fault.kind', fault ?? named(faultDeclarations, scenario.fault.kind)],
    ['also.kind', named(faultDeclarations, scenario.also.kind)],
    ['remedy.kind', remedy ?? named(remedyDeclarations, scenario.remedy.kind)],
    ['disk.mode', diskModeOf[scenario.disk.mode]],
    ['database.kind', own ?? named(databaseDeclarations, scenario.database.kind)],
  ] as const;
  return [
    ...kinds.flatMap(([field, { name: value = '', needs = [] } = {}]) =>
      needs.map((capability) => ({ capability, value, field })),
    ),
    ...fieldNames.flatMap((field) => needsOfField(field, scenario)),
  ];
}

function needsOfField(field: FieldName, scenario: Scenario): ClusterNeed[] {
  const { needs: capability, needing, show, stock } = fields[field];
  if (capability === undefined) return [];
  const set = valueAt(scenario, field);
  const all = set === undefined || set === stock ? undefined : show(set);
  const value = needing === undefined ? all : needing(set, scenario);
  return value === undefined ? [] : [{ capability, value, field }];
}

export const capabilitiesFor = (scenario: Scenario, parts?: Parts): readonly Capability[] =>
  needsOf(scenario, parts).map(({ capability }) => capability);

/** What was opened, if it has what its backend declares. Throws as `able`, and closes it. */
export async function knownToHave<T>(
  opened: OpenedCluster<T>,
  needs: readonly Capability[],
): Promise<OpenedCluster<T, Capability>> {
  try {
    return { ...opened, cluster: breakableBy(opened.cluster, needs) };
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/**
 * What the run leaves to whatever database it tests: one server on a volume and a group of servers
 * answer it differently. Everything else, its order and its bounds, is the run's own.
 */
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
