/** What an experiment is put together from, as values: the scenario's own form. */
import {
  type DatabaseKind,
  type FaultKind,
  type GroupName,
  type RemedyKind,
  type WrittenGroup,
  type WrittenWith,
  faultKinds,
  remedyKinds,
} from '../../scenario/index.ts';

type ExperimentPart<Group extends GroupName, Kind> = { readonly kind: Kind } & WrittenWith<
  Group,
  Kind
>;
type Maker<Group extends GroupName, Kind> = (
  of?: WrittenWith<Group, Kind>,
) => ExperimentPart<Group, Kind>;

interface KindOf {
  readonly fault: FaultKind;
  readonly remedy: RemedyKind;
  readonly database: DatabaseKind;
}

const partOf =
  <Group extends keyof KindOf, Kind extends KindOf[Group]>(kind: Kind): Maker<Group, Kind> =>
  (of) => ({ ...(of as WrittenWith<Group, Kind>), kind });

type CamelCase<Kind extends string> = Kind extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Kind;

/** What makes parts of a group, one for each kind that is declared, by its name in camel case. */
const partsOf = <Group extends 'fault' | 'remedy'>(kinds: readonly KindOf[Group][]) =>
  Object.fromEntries(
    kinds.map((kind) => [
      kind.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
      partOf<Group, typeof kind>(kind),
    ]),
  ) as { readonly [Kind in KindOf[Group] as CamelCase<Kind>]: Maker<Group, Kind> };

/** Every fault, as docs/reference/scenarios.md explains it: `faults.nodeCrash()`. */
export const faults = partsOf<'fault'>(faultKinds);
export const { none: noFault, nodeCrash, nodeReboot, freeze, cpuStarvation } = faults;
export const { networkPartition, flappingPartition, apiPartition, apiOutage } = faults;
export const { kubeletStall, runtimeStall, kubeletRestart, controllerRestart } = faults;
export const { attacherDown, leaseWrite } = faults;

/** Every remedy: `remedies.forceDelete()`. */
export const remedies = partsOf<'remedy'>(remedyKinds);
export const { none: noRemedy, delete: plainDelete, forceDelete, deleteNode, drain } = remedies;
export const { deleteAttachment, stripAttachmentFinalizer, stripPodFinalizer } = remedies;
export const { outOfService, fenceFirst, rolloutRestart } = remedies;

/** What keeps the data. */
export interface StoragePart {
  readonly disk: WrittenGroup<'disk'>;
  readonly volume: WrittenGroup<'volume'>;
}

/** The project's own array and driver. `mode`: how it answers a detach; default `unfenced`. */
export const array = ({
  volume = {},
  ...disk
}: Exclude<WrittenGroup<'disk'>, string> & {
  readonly volume?: WrittenGroup<'volume'>;
} = {}): StoragePart => ({ disk, volume });

/** Settings of one server on one volume. */
export type DatabasePart = WrittenWith<'database', 'single-server'>;

/** The one database that there is today (docs/how-to/write-a-database.md). */
export const mysql = (of: DatabasePart = {}): DatabasePart => of;

/** Three of its servers that replicate among themselves, a volume each; on `kind()`. */
export type GroupPart = ExperimentPart<'database', 'group-replication'>;
export const groupReplication: Maker<'database', 'group-replication'> = partOf('group-replication');
