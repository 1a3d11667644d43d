/** The types of the nested form, from the declarations. */
import type { z } from 'zod';
import type { fields } from './fields.ts';
import type { FieldName } from './written-paths.ts';

type All = typeof fields;
type Before<At> = At extends `${infer Group}.${string}` ? Group : never;
type After<At, Group extends string> = At extends `${Group}.${infer Key}` ? Key : never;
type Value<Name extends FieldName> = z.input<All[Name]['written']>;
type KindsOf<Name extends FieldName> = NonNullable<All[Name]['of']>[number];

type GroupName = Before<All[FieldName]['at']>;
type HeadKey<Group extends string> = Group extends FieldName
  ? After<All[Group]['at'], Group>
  : never;
type Kinds<Group extends string> = Group extends FieldName ? Value<Group> : never;

/** What goes with that kind. */
export type WrittenWith<Group extends string, Kind> = {
  readonly [Name in FieldName as Kind extends KindsOf<Name>
    ? Exclude<After<All[Name]['at'], Group>, HeadKey<Group>>
    : never]?: Value<Name>;
};

type OfKind<Group extends string, Kind> = Kind extends unknown
  ? { readonly [Key in HeadKey<Group>]: Kind } & WrittenWith<Group, Kind>
  : never;

/** All keys but the kind, which is then the default one. */
type Headless<Group extends string> = {
  readonly [Name in FieldName as Exclude<
    After<All[Name]['at'], Group>,
    HeadKey<Group>
  >]?: Value<Name>;
} & { readonly [Key in HeadKey<Group>]?: undefined };

/** `fault: freeze`, or `fault: { kind: flapping-partition, down: 46s }`. */
export type WrittenGroup<Group extends string> =
  | Kinds<Group>
  | OfKind<Group, Kinds<Group>>
  | Headless<Group>;

/** A scenario as people write it, without what is derived. */
export type WrittenScenario = { readonly [Group in GroupName]?: WrittenGroup<Group> };
