/**
 * The types of the nested form, from the declarations: a union by kind of each group, so that what
 * goes with another kind can't be written.
 */
import type { z } from 'zod';
import type { fields } from './fields.ts';
import type { FieldName } from './written-paths.ts';

type All = typeof fields;
type Before<At> = At extends `${infer Group}.${string}` ? Group : never;
type After<At, Group extends string> = At extends `${Group}.${infer Key}` ? Key : never;
type Value<Name extends FieldName> = z.input<All[Name]['written']>;
type KindsOf<Name extends FieldName> = NonNullable<All[Name]['of']>[number];

type GroupName = Before<All[FieldName]['at']>;
type KeyOf<Group extends string, Name extends FieldName> = After<All[Name]['at'], Group>;
type MembersOf<Group extends string> = {
  [Name in FieldName]: Before<All[Name]['at']> extends Group ? Name : never;
}[FieldName];

/** The field that is called as the group, or the one that others of the group name. */
type HeadOf<Group extends string> = Group extends FieldName
  ? Group
  : {
      [Name in MembersOf<Group>]: All[Name] extends { readonly head: infer Told extends FieldName }
        ? Told
        : never;
    }[MembersOf<Group>];
type HeadKey<Group extends string> = KeyOf<Group, HeadOf<Group>>;
type Kinds<Group extends string> = Value<HeadOf<Group>>;

/** The kind of a group that says none. */
type StockKind<Group extends string> = All[HeadOf<Group>]['stock'] extends infer Stock extends
  string
  ? Stock
  : All[HeadOf<Group>]['schema'] extends z.ZodDefault
    ? Kinds<Group>
    : never;

/** What goes with that kind, and nothing that goes with others only. */
export type WrittenWith<Group extends string, Kind> = {
  readonly [Name in MembersOf<Group> as Exclude<
    KeyOf<Group, Name>,
    HeadKey<Group>
  >]?: Kind extends KindsOf<Name> ? Value<Name> : never;
};

type OfKind<Group extends string, Kind> = Kind extends unknown
  ? (Kind extends StockKind<Group>
      ? { readonly [Key in HeadKey<Group>]?: Kind }
      : { readonly [Key in HeadKey<Group>]: Kind }) &
      WrittenWith<Group, Kind>
  : never;

type OfAnyKind<Group extends string> = [HeadOf<Group>] extends [never]
  ? WrittenWith<Group, string>
  : OfKind<Group, Kinds<Group>>;

/** `fault: freeze`, or `fault: { kind: flapping-partition, down: 46s }`. */
export type WrittenGroup<Group extends string> =
  | (Group extends FieldName ? Value<Group> : never)
  | OfAnyKind<Group>;

/** A scenario as people write it, without what is derived. */
export type WrittenScenario = { readonly [Group in GroupName]?: WrittenGroup<Group> };
