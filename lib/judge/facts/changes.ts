/** Statements made of what witnesses report: changes last until the next one, sightings close to each other are one. */
import { type Span, type Statement, unknown } from './engine.ts';

/** From then on the item has this value. */
export interface Change extends Pick<Statement, 'item' | 'value'> {
  readonly atMs: number;
}

/** Each change lasts until the item's next one, the last until the end. */
export function lasting(changes: readonly Change[], untilMs: number): Statement[] {
  const byItem = Map.groupBy(changes, ({ item }) => item);
  return [...byItem.values()].flatMap((all) => {
    const ordered = all.toSorted((a, b) => a.atMs - b.atMs);
    return ordered.map(({ item, value, atMs }, index) => ({
      ...{ item, value, fromMs: atMs },
      toMs: ordered[index + 1]?.atMs ?? untilMs,
    }));
  });
}

/** One of an item's members comes or goes, such as an attachment of a node. */
interface Membership {
  readonly item: string;
  readonly member: unknown;
  readonly comes: boolean;
  readonly atMs: number;
}

/** While an item has any member it has the one value, else the other. In order of time. */
export function whileAny(
  memberships: readonly Membership[],
  [some, none]: readonly [some: string, none: string],
): Change[] {
  const members = new Map<string, Set<unknown>>();
  return memberships.map(({ item, member, comes, atMs }) => {
    const own = members.get(item) ?? new Set();
    members.set(item, own);
    if (comes) own.add(member);
    else own.delete(member);
    return { item, value: own.size > 0 ? some : none, atMs };
  });
}

/** Sightings no farther apart than this are one span. */
const joinMs = 5000;

/** A pause that another witness, which looks late, may not have seen: neither one nor the other. */
const shortPauseMs = 40_000;

/** `times`: in order. */
export function bursts(item: string, value: string, times: readonly number[]): Statement[] {
  const spans: { item: string; value: Statement['value']; fromMs: number; toMs: number }[] = [];
  for (const atMs of times) {
    const last = spans.at(-1);
    if (last !== undefined && atMs <= last.toMs + joinMs) {
      last.toMs = atMs;
      continue;
    }
    if (last !== undefined && atMs <= last.toMs + shortPauseMs) {
      spans.push({ item, value: unknown, fromMs: last.toMs, toMs: atMs - 1 });
    }
    spans.push({ item, value, fromMs: atMs - 1, toMs: atMs });
  }
  return spans;
}

/** Longer than any run. */
export const wholeRun: Span = { fromMs: 0, toMs: Infinity };

/** Of the whole run; an item without a value is `none`. */
export const throughout = (
  items: readonly (readonly [item: string, value: string | number | undefined])[],
): Statement[] =>
  items.map(([item, value]) => ({ item, value: String(value ?? 'none'), ...wholeRun }));

export const moment = (item: string, value: string | number, atMs: number): Statement => ({
  ...{ item, value, fromMs: atMs, toMs: atMs },
});
