/** Reads the part of EDN that an exported history may have; anything else is an error. */

export type Edn = number | string | null | readonly Edn[] | ReadonlyMap<Edn, Edn>;

const token = /\s*(?:,\s*)*([[\]{}]|:[\w-]+|-?\d+|nil|"(?:[^"\\]|\\["\\nrt])*")/y;
const closes = { '[': ']', '{': '}' } as const;

/** One value; keywords keep their colon. */
export function parseEdn(text: string): Edn {
  token.lastIndex = 0;
  const value = readValue(text, next(text));
  if (text.slice(token.lastIndex).trim() !== '') throw new Error(`more than one value: ${text}`);
  return value;
}

function next(text: string): string {
  const at = token.lastIndex;
  const found = token.exec(text)?.[1];
  if (found === undefined) throw new Error(`no EDN at ${at}: ${text.slice(at, at + 40)}`);
  return found;
}

function readValue(text: string, first: string): Edn {
  if (first === '[') return readUntil(text, closes['[']);
  if (first === '{') return toMap(readUntil(text, closes['{']));
  if (first === 'nil') return null;
  if (first.startsWith(':')) return first;
  if (first.startsWith('"')) return JSON.parse(first) as string;
  if (/\d$/.test(first)) return Number(first);
  throw new Error(`unexpected ${first}`);
}

function readUntil(text: string, end: string): Edn[] {
  const values: Edn[] = [];
  for (let found = next(text); found !== end; found = next(text)) {
    values.push(readValue(text, found));
  }
  return values;
}

function toMap(flat: readonly Edn[]): Map<Edn, Edn> {
  if (flat.length % 2 === 1) throw new Error('a map with a key and no value');
  const map = new Map<Edn, Edn>();
  for (let n = 0; n < flat.length; n += 2) map.set(flat[n] ?? null, flat[n + 1] ?? null);
  return map;
}
