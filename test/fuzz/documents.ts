/** A document of JSON or YAML with one of its values, or one of its keys, made strange. */
import type { RandomStream } from '../../lib/core/random.ts';
import { pick } from './case.ts';
import { values } from './values.ts';

export type Path = readonly (string | number)[];

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A map of so many is a list by another name. */
const manyKeys = 60;
const entriesOf = (map: object): number => (Object.keys(map).length > manyKeys ? 2 : manyKeys);

/** Paths of all its values, lists by their first two; the document's own is the empty one. */
export function pathsIn(document: unknown, path: Path = []): Path[] {
  const below = Array.isArray(document)
    ? document.slice(0, 2).map((value: unknown, index): [number, unknown] => [index, value])
    : isMap(document)
      ? Object.entries(document).slice(0, entriesOf(document))
      : [];
  return [path, ...below.flatMap(([key, value]) => pathsIn(value, [...path, key]))];
}

export const nameOf = (path: Path): string => path.join('.') || 'all of it';

/** `how`, and the document with the value at the path made strange. */
export function strange(
  document: unknown,
  path: Path,
  draws: RandomStream,
): { readonly how: string; readonly document: unknown } {
  const copy = structuredClone(document);
  const [last] = path.slice(-1);
  const parent = path.slice(0, -1).reduce<unknown>(inside, copy);
  if (last === undefined || !(isMap(parent) || Array.isArray(parent))) {
    return { how: 'replaced', document: pick(draws, values) };
  }
  const holder = parent as Record<string | number, unknown>;
  const value = holder[last];
  switch (draws.int(0, 7)) {
    case 0:
      if (Array.isArray(parent)) parent.splice(Number(last), 1);
      else delete holder[last];
      return { how: 'deleted', document: copy };
    case 1:
      holder[last] = [value];
      return { how: 'in a list', document: copy };
    case 2:
      define(holder, pick(draws, ['__proto__', 'constructor', '\u001b[2J', '']), value);
      return { how: 'under a strange key', document: copy };
    case 3:
      if (isMap(value)) define(value, '__proto__', { polluted: true });
      else holder[last] = typeof value === 'number' ? -value * 1e12 : `${String(value)}\u0000`;
      return { how: 'poisoned', document: copy };
    default:
      holder[last] = pick(draws, values);
      return { how: `now ${JSON.stringify(holder[last]).slice(0, 30)}`, document: copy };
  }
}

const inside = (value: unknown, key: string | number): unknown =>
  isMap(value) || Array.isArray(value)
    ? (value as Record<string | number, unknown>)[key]
    : undefined;

/** As a parser does, which sets no prototype. */
const define = (holder: object, key: string, value: unknown): void =>
  void Object.defineProperty(holder, key, {
    ...{ value, enumerable: true, configurable: true, writable: true },
  });
