/** Statements made of what witnesses report: changes last until the next one, sightings close to each other are one. */
import type { Statement } from './engine.ts';

/** From then on the item has this value. */
export interface Change extends Pick<Statement, 'item' | 'value'> {
  readonly atMs: number;
}

/** Each change lasts until the item's next one, the last until the end. */
export function lasting(changes: readonly Change[], untilMs: number): Statement[] {
  const ordered = changes.toSorted((a, b) => a.atMs - b.atMs);
  return ordered.map(({ item, value, atMs }, index) => {
    const next = ordered.slice(index + 1).find((later) => later.item === item);
    return { item, value, fromMs: atMs, toMs: next?.atMs ?? untilMs };
  });
}

/** Sightings no farther apart than this are one span. */
const joinMs = 5000;

/** `times`: in order. */
export function bursts(item: string, value: string, times: readonly number[]): Statement[] {
  const spans: { item: string; value: string; fromMs: number; toMs: number }[] = [];
  for (const atMs of times) {
    const last = spans.at(-1);
    if (last !== undefined && atMs <= last.toMs + joinMs) last.toMs = atMs;
    else spans.push({ item, value, fromMs: atMs - 1, toMs: atMs });
  }
  return spans;
}

export const moment = (item: string, value: string | number, atMs: number): Statement => ({
  ...{ item, value, fromMs: atMs, toMs: atMs },
});
