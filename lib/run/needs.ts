/** What a scenario takes of its cluster beyond what every one has: checked before one is opened, and against its ports once it is. */
import type { Capability } from '../core/index.ts';
import { breakableBy, type OpenedCluster } from './ports/cluster.ts';
import {
  databaseDeclarations,
  diskModeOf,
  faultDeclarations,
  type Field,
  type KindDeclaration,
  remedyDeclarations,
  fields,
  type Scenario,
  fieldNames,
  type FieldName,
} from '../scenario/index.ts';
import type { Database } from './ports/database.ts';
import type { Custom } from './custom.ts';

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
    ['fault', fault ?? named(faultDeclarations, scenario.fault)],
    ['also', named(faultDeclarations, scenario.also)],
    ['remedy', remedy ?? named(remedyDeclarations, scenario.remedy)],
    ['disk', diskModeOf[scenario.disk]],
    ['database', own ?? named(databaseDeclarations, scenario.database)],
  ] as const;
  return [
    ...kinds.flatMap(([field, { name: value = '', needs = [] } = {}]) =>
      needs.map((capability) => ({ capability, value, field })),
    ),
    ...fieldNames.flatMap((field) => needsOfField(field, scenario)),
  ];
}

function needsOfField(field: FieldName, scenario: Scenario): ClusterNeed[] {
  const { needs: capability, needing, show, stock }: Field = fields[field];
  if (capability === undefined) return [];
  const set = scenario[field];
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
