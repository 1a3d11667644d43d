/** What a kind of fault, remedy or disk says of a scenario's fields: those of its own, and what it asks of others. */
import type { Capability } from '../../core/index.ts';
import type { Fields } from './field.ts';

/** By the names of fields in a record. */
export interface KindDeclaration {
  readonly name: string;
  /** Its own; each is written in the group of its kind. */
  readonly fields?: Fields;
  /** Fields that stay at their default beside it, and why. */
  readonly keeps?: Readonly<Record<string, string>>;
  /** Fields that must not, and why. */
  readonly changes?: Readonly<Record<string, string>>;
  /** What it takes of a cluster, beyond what every one has. Default: nothing. */
  readonly needs?: readonly Capability[];
  /** Values of fields that go with it. Default: each does. */
  readonly takes?: Readonly<Record<string, readonly string[]>>;
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

type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

type FieldsOf<Each> = Both<Extract<Each, { readonly fields: Fields }>['fields']>;

/** In the order of the kinds. */
export const fieldsOfKinds = <Each extends KindDeclaration>(
  kinds: readonly Each[],
): FieldsOf<Each> => Object.assign({}, ...kinds.map(({ fields = {} }) => fields)) as FieldsOf<Each>;
