/** The tables of docs/reference/scenarios.md and the JSON Schemas of schedule and matrix files, from the fields' declarations. */
import { z } from 'zod';
import { capabilities, capabilityNames, type Capability } from '../../lib/core/capabilities.ts';
import { kindCapabilities } from '../../lib/run/ports/limits.ts';
import { simCapabilities } from '../../lib/sim/model.ts';
import { databaseDeclarations } from '../../lib/scenario/databases/index.ts';
import { diskModeDeclarations } from '../../lib/scenario/disks/index.ts';
import {
  fieldNames,
  fields,
  groupNames,
  headOf,
  kindsInWords,
  settableNames,
  verdictWords,
  wordOf,
  type FieldName,
  type GroupName,
} from '../../lib/scenario/fields.ts';
import { faultDeclarations } from '../../lib/scenario/faults/index.ts';
import type { KindDeclaration } from '../../lib/scenario/kinds.ts';
import { transportDeclarations } from '../../lib/scenario/transports/index.ts';
import type { Revocation } from '../../lib/scenario/transports/kind.ts';
import { matrixSchema } from '../../lib/batch/matrix.ts';
import { remedyDeclarations } from '../../lib/scenario/remedies/index.ts';

export const path = 'docs/reference/scenarios.md';
export const schemaPath = 'docs/reference/scenario.schema.json';
export const matrixSchemaPath = 'docs/reference/matrix.schema.json';

const code = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``;
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

function rowOf(name: FieldName): string[] {
  const { at, stock, show, flags, choices, about, more } = fields[name];
  const only = kindsInWords(name);
  const meaning = [about, choices?.map(code).join(', '), only].filter((each) => each !== undefined);
  return [
    code(at),
    stock === undefined ? '–' : code(show(stock)),
    flags === undefined ? '–' : code(flags),
    `${meaning.join('; ')}${more === undefined ? '' : ` ${more}`}`,
  ];
}

const inOrder = [...settableNames, ...fieldNames.filter((name) => !name.includes('.'))];

const kindsNeeding = (
  capability: Capability,
  head: string,
  kinds: readonly KindDeclaration[],
): string[] =>
  kinds
    .filter(({ needs = [] }) => needs.includes(capability))
    .map(({ name }) => code(`${head} ${name}`));

const whoNeeds = (capability: Capability): string =>
  [
    ...kindsNeeding(capability, 'fault', faultDeclarations),
    ...kindsNeeding(capability, 'remedy', remedyDeclarations),
    ...kindsNeeding(capability, 'disk', diskModeDeclarations),
    ...kindsNeeding(capability, 'database', databaseDeclarations),
    ...fieldNames.filter((name) => fields[name].needs === capability).map(code),
  ].join(', ') || 'what you bring along';

const kindLacking = (capability: Capability): string[] => {
  if (kindCapabilities('published').includes(capability)) return [];
  return kindCapabilities('built').includes(capability) ? ['kind with published images'] : ['kind'];
};

const whoLacks = (capability: Capability): string =>
  [
    ...(simCapabilities.some((each) => each === capability) ? [] : ['the model']),
    ...kindLacking(capability),
  ].join(', ') || '–';

const refusedInWords = (refuses: NonNullable<KindDeclaration['refuses']>): string =>
  Object.entries(refuses)
    .flatMap(([field, words]) =>
      Object.entries(words).map(([word, why]) => `${code(`${field} ${word}`)}: ${why}`),
    )
    .join('; ') || '–';

const tables: Readonly<Record<string, () => string>> = {
  fields: () => table(['Field', 'Default', 'Flag', 'Meaning'], inOrder.map(rowOf)),
  faults: () =>
    table(
      ['Fault', 'What happens to the victim', 'Certificate while it lasts'],
      faultDeclarations.map(({ name, happens, certificate }) => [name, happens, certificate]),
    ),
  disks: () =>
    table(
      ['Disk', 'When another node is to get the volume, the storage'],
      diskModeDeclarations.map(({ name, does, more }) => [
        name,
        more === undefined ? does : `${does} ${more}`,
      ]),
    ),
  transports: () =>
    table(
      ['Transport', 'A node reaches the disk', 'Refused beside it'],
      transportDeclarations.map(({ name, does, refuses = {} }) => [
        ...[name, does, refusedInWords(refuses)],
      ]),
    ),
  revocations: () =>
    table(
      ['Transport', 'Revocation', 'The storage', 'The victim’s request', 'Worth the mode'],
      transportDeclarations.flatMap(({ name, revocations }) =>
        Object.entries<Revocation>(revocations).map(
          ([way, { does, victim, worth, endsAtConnect }]) => [
            ...[name, way, does, victim],
            endsAtConnect === true ? `${worth} until it connects anew` : worth,
          ],
        ),
      ),
    ),
  databases: () =>
    table(
      ['Database', 'What is tested'],
      databaseDeclarations.map(({ name, is }) => [name, is]),
    ),
  capabilities: () =>
    table(
      ['Capability', 'A cluster that has it can', 'Needed by', 'Lacking on'],
      capabilityNames.map((name) => [
        ...[code(name), capabilities[name].can, whoNeeds(name), whoLacks(name)],
      ]),
    ),
  remedies: () =>
    table(
      ['Remedy', 'What is done'],
      remedyDeclarations.map(({ name, does }) => [name, does]),
    ),
};

/** The page with its tables made anew, each between `<!-- name -->` and `<!-- /name -->`. */
export const renderedPage = (page: string): string =>
  Object.entries(tables).reduce(
    (text, [name, rendered]) =>
      text.replace(
        new RegExp(`<!-- ${name} -->[^]*<!-- /${name} -->`),
        () => `<!-- ${name} -->\n\n${rendered()}\n<!-- /${name} -->`,
      ),
    page,
  );

/** `fault.down`, as a definition of its own. */
const definitions = Object.fromEntries(
  settableNames.map((name) => {
    const { at, written, about } = fields[name];
    const { $schema: _, ...schema } = z.toJSONSchema(written, { io: 'input' });
    return [at, { description: about, ...schema }];
  }),
);

const mapOf = (members: Readonly<Record<string, object>>, required: readonly string[]): object => ({
  type: 'object',
  properties: members,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
});

const membersOf = (group: GroupName): readonly FieldName[] =>
  settableNames.filter((name) => name.startsWith(`${group}.`));

/**
 * A word, or a map of what goes with one kind. A map without a kind has what goes with the default one;
 * in a part of a scenario, with the kind that another part names.
 */
function groupSchema(group: GroupName, isPart: boolean): object {
  const head = headOf(group);
  const refs = membersOf(group).map((name) => ({
    ...{ key: name.slice(group.length + 1), name, of: fields[name].of },
    ref: { $ref: `#/$defs/${name}` },
  }));
  const headRef = refs.find(({ name }) => name === head);
  const { stock, choices: kinds = [] } = head === undefined ? {} : fields[head];
  const allOf = (kind?: string): object => {
    const going = refs.filter(({ of }) => kind === undefined || of?.includes(kind) !== false);
    const needsNone = isPart || kind === undefined || kind === stock;
    const required = needsNone ? [] : [headRef?.key ?? ''];
    const pairs = going.map((each) => {
      const isKind = each === headRef && kind !== undefined;
      return [each.key, isKind ? { const: kind } : each.ref] as const;
    });
    return mapOf(Object.fromEntries(pairs), required);
  };
  const maps = kinds.length === 0 ? [allOf()] : kinds.map(allOf);
  const all = headRef === undefined || wordOf(group) === undefined ? maps : [headRef.ref, ...maps];
  const [only = {}, ...others] = all;
  return others.length === 0 ? only : { anyOf: all };
}

const draft = 'https://json-schema.org/draft/2020-12/schema';
const settings = (isPart: boolean): Readonly<Record<string, object>> =>
  Object.fromEntries(groupNames.map((group) => [group, groupSchema(group, isPart)]));

/** A field's place in the axes, and the list of its values. */
const fieldAxes = Object.fromEntries(
  groupNames.flatMap((group) => {
    const listOf = (field: FieldName): object => ({
      ...{ type: 'array', minItems: 1 },
      items: { $ref: `#/$defs/${field}` },
    });
    const dotted = membersOf(group).map((field) => [field, listOf(field)] as const);
    const word = wordOf(group);
    return word === undefined ? dotted : [[group, listOf(word)] as const, ...dotted];
  }),
);

/** Of a matrix file: what the fields mean is checked when it is read. */
export function matrixJsonSchema(): object {
  const { $schema: _, properties, ...form } = z.toJSONSchema(matrixSchema, { io: 'input' });
  const scenario = { $ref: '#/$defs/scenario' };
  return {
    $schema: draft,
    title: 'A matrix of forcedetach: what all cells share, and the axes over it',
    ...form,
    properties: {
      ...properties,
      base: scenario,
      include: { type: 'array', items: scenario },
      axes: {
        ...{ type: 'object', properties: fieldAxes },
        additionalProperties: { type: 'object', additionalProperties: scenario },
      },
    },
    $defs: { scenario: mapOf(settings(true), []), ...definitions },
  };
}

/** Of a schedule file. */
export const scheduleJsonSchema = (): object => ({
  $schema: draft,
  title: 'A schedule of forcedetach: a scenario, its seed, and what is predicted',
  ...mapOf(
    {
      name: { type: 'string', pattern: '^[a-z0-9-]+$' },
      question: { type: 'string', minLength: 1 },
      seed: { type: 'string', minLength: 1 },
      predicted: { type: 'array', items: { enum: verdictWords }, minItems: 1 },
      scenario: { $ref: '#/$defs/scenario' },
    },
    ['name', 'question', 'seed', 'predicted', 'scenario'],
  ),
  $defs: {
    scenario: mapOf(settings(false), ['fault']),
    ...definitions,
  },
});
