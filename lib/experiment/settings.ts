/** Some fields of a scenario, as they are recorded, and what becomes of them under others. */
import type { Field } from '../fields/field.ts';
import { fields } from './fields.ts';
import { groupOf, settableNames, type FieldName } from './places.ts';
import type { ScenarioInput } from './scenario.ts';

/** What follows from the rest of a run, or is its name: no file sets it. */
type Derived = 'name' | 'question' | 'expected' | 'expectedServing' | 'counted' | 'diskFrom';

/** Fields of a scenario, in milliseconds where they are times. */
export type Settings = Readonly<Partial<Omit<ScenarioInput, Derived>>>;

/** `over` wins; where it names another kind, what only the kind before it had goes with that. */
export function settingsUnder(base: Settings, over: Settings): Settings {
  const values = over as Readonly<Record<string, string | undefined>>;
  const isGone = (name: FieldName): boolean => {
    const { of }: Field = fields[name];
    const head = groupOf(name)?.head;
    const kind = head === undefined ? undefined : values[head];
    return of !== undefined && kind !== undefined && !of.includes(kind);
  };
  const gone = new Set<string>(settableNames.filter(isGone));
  const kept = Object.entries(base).filter(([name]) => !gone.has(name));
  return { ...Object.fromEntries(kept), ...over };
}
