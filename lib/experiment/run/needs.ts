/** What a scenario takes of its cluster beyond what every one has: asked before one is opened, and of its ports once it is. */
import type { Capability } from '../../capabilities.ts';
import { breakableBy, type OpenedCluster } from '../../cluster/port.ts';
import { databaseDeclarations } from '../../database/kinds/index.ts';
import type { Database } from '../../database/port.ts';
import { diskModeOf } from '../../disk-modes/index.ts';
import { faultDeclarations } from '../../faults/kinds/index.ts';
import type { Field } from '../../fields/field.ts';
import type { KindDeclaration } from '../../fields/of-kinds.ts';
import { remedyDeclarations } from '../../remedies/kinds/index.ts';
import { fields } from '../fields.ts';
import type { Scenario } from '../scenario.ts';
import { fieldNames, type FieldName } from '../written-paths.ts';
import type { Custom } from './custom.ts';

interface ClusterNeed {
  readonly capability: Capability;
  /** Who needs it: a value, and the field that has it. */
  readonly value: string;
  readonly field: FieldName;
}

const named = (kinds: readonly KindDeclaration[], name?: string): KindDeclaration | undefined =>
  kinds.find((kind) => kind.name === name);

const databaseIn = (
  { database }: Scenario,
  own: Database | undefined,
): KindDeclaration | undefined =>
  own === undefined || own.real !== undefined
    ? named(databaseDeclarations, database)
    : { name: own.name, needs: ['own-database'] };

/** Parts of a run that may be the caller's own. Default: ours. */
export type Parts = Custom & { readonly database?: Database };

/** A part of the caller's own takes what it says itself, and not what the kind takes that it is like. */
export function needsOf(
  scenario: Scenario,
  { fault, remedy, database }: Parts = {},
): readonly ClusterNeed[] {
  const kinds = [
    ['fault', fault ?? named(faultDeclarations, scenario.fault)],
    ['also', named(faultDeclarations, scenario.also)],
    ['remedy', remedy ?? named(remedyDeclarations, scenario.remedy)],
    ['disk', diskModeOf[scenario.disk]],
    ['database', databaseIn(scenario, database)],
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
  const said = scenario[field];
  const all = said === undefined || said === stock ? undefined : show(said);
  const value = needing === undefined ? all : needing(said, scenario);
  return value === undefined ? [] : [{ capability, value, field }];
}

export const capabilitiesFor = (scenario: Scenario, parts?: Parts): readonly Capability[] =>
  needsOf(scenario, parts).map(({ capability }) => capability);

/** What was opened, held to its backend's word. Throws as `able`, and closes it. */
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
