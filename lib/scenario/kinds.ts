/** What a kind of fault, remedy, disk or database declares: fields of its own, and what it asks of others. */
import type { Capability } from '../core/index.ts';
import type { Declared, Fields } from './field.ts';

/** Other fields by their paths: `disk.flushes`. */
export interface KindDeclaration {
  readonly name: string;
  /** By their keys in the group of its kind, where no other kind has them. */
  readonly fields?: Fields;
  /** Fields that stay at their default beside it, and why. */
  readonly keeps?: Readonly<Record<string, string>>;
  /** Fields that must not, and why. */
  readonly changes?: Readonly<Record<string, string>>;
  /** What it takes of a cluster, beyond what every one has. Default: nothing. */
  readonly needs?: readonly Capability[];
  /** Values of fields that go with it. Default: each does. */
  readonly takes?: Readonly<Record<string, readonly string[]>>;
  /** Values of fields that do not go with it, each with the reason. */
  readonly refuses?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What may be set beside it, and why nothing else may. Default: anything. */
  readonly only?: { readonly fields: readonly string[]; readonly because: string };
}

/** Finds one by its name. Throws RangeError for a name that none has. */
export function finderIn<Each extends KindDeclaration>(
  what: 'fault' | 'remedy',
  kinds: readonly Each[],
): (name: string) => Each {
  const byName = new Map(kinds.map((each) => [each.name, each]));
  return (name) => {
    const declared = byName.get(name);
    if (declared === undefined) throw new RangeError(`there is no ${what} ${name}`);
    return declared;
  };
}

type OwnField<D, Name extends string> =
  D extends Declared<infer Schema, infer Written> ? Declared<Schema, Written, Name> : never;
type OwnFields<Kind> = Kind extends {
  readonly name: infer Name extends string;
  readonly fields: infer F;
}
  ? (each: { readonly [Key in keyof F]: OwnField<F[Key], Name> }) => void
  : never;
type FieldsOf<Kind> = OwnFields<Kind> extends (all: infer All) => void ? All : never;

/** In the order of the kinds; each goes with its kind alone. */
export const fieldsOfKinds = <Each extends KindDeclaration>(
  kinds: readonly Each[],
): FieldsOf<Each> =>
  Object.fromEntries(
    kinds.flatMap(({ name, fields = {} }) =>
      Object.entries(fields).map(([key, each]) => [key, { ...each, of: [name] }]),
    ),
  ) as FieldsOf<Each>;
