/** Flags of fields, as their owners declare them, and back to what they say. */
import { Option } from 'commander';
import type { z } from 'zod';
import {
  contradictions,
  isKept,
  takenOf,
  fields,
  goesWith,
  groups,
  inFull,
  kindsInWords,
  type FieldName,
  type Scenario,
  type Field,
  type Fields,
} from '../../scenario/index.ts';
import { argumentOf } from './flag-values.ts';

/** Groups of fields under the headings of the help. */
const headings: readonly (readonly [string, readonly string[]])[] = [
  ['Fault', ['fault', 'also']],
  ['Remedy', ['remedy']],
  ['Disk', ['disk', 'volume']],
  ['Pod', ['workload', 'selfFence']],
  ['Database', ['load', 'database']],
  ['Kubernetes', ['kubernetes']],
  ['Timers', ['timers', 'watch']],
];

/** By what they are about. `base` has the defaults. */
export const scenarioOptions = (base: Scenario): readonly (readonly [string, Option[]])[] =>
  headings.map(([heading, within]) => {
    const names = within.flatMap((group) => [...(groups.get(group)?.members.values() ?? [])]);
    return [heading, names.map((name) => scenarioOption(name, base))];
  });

function scenarioOption(name: FieldName, base: Scenario): Option {
  const option = optionOf(fields[name], base[name] ?? fields[name].stock, onlyOf(name));
  const taken = takenOf(base, name);
  return taken === undefined ? option : option.choices(taken);
}

/** That it takes a remedy or a second fault at all goes without saying. */
function onlyOf(name: FieldName): string {
  const only = kindsInWords(name);
  return only === undefined || / (none|off)$/.test(only) ? '' : `; ${only}`;
}

/** Whether it does something with the kinds of the scenario, and some other value of it fits there. */
export function isOfUse(name: FieldName, scenario: Scenario): boolean {
  if (!goesWith(name, inFull(scenario)) || isKept(scenario, name)) return false;
  const { flag }: Field = fields[name];
  const others = (flag?.choices ?? []).filter((word) => word !== scenario[name]);
  return others.length === 0 || others.some((word) => fits({ ...scenario, [name]: word }, name));
}

const fits = (scenario: Scenario, name: FieldName): boolean =>
  contradictions(scenario).every(({ field }) => field !== name);

/** Throws TypeError of a field that has no flag. `more` stands behind what the field says of itself. */
export function optionOf({ at, flag, about, show }: Field, value: unknown, more = ''): Option {
  if (flag === undefined) throw new TypeError(`${at} has no flag`);
  const option = new Option(flag.flags, `${about}${more}`);
  if (flag.choices !== undefined) option.choices(flag.choices);
  if (flag.text !== undefined) option.argParser(argumentOf(flag.text));
  return typeof value === 'boolean' ? option.default(value) : option.default(value, show(value));
}

type Parsed = Readonly<Record<string, unknown>>;

/** What flags say, by the names of their fields; nothing of fields whose flag is not there. */
export const valuesOf = <F extends Fields>(
  declared: F,
  parsed: Parsed,
): { readonly [Name in keyof F]?: z.output<F[Name]['schema']> } =>
  Object.fromEntries(
    Object.entries(declared).flatMap(([name, { flag }]) => {
      const value = flag && parsed[new Option(flag.flags).attributeName()];
      return value === undefined ? [] : [[name, value]];
    }),
  ) as { readonly [Name in keyof F]?: z.output<F[Name]['schema']> };
