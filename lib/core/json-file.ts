/** Reads a JSON file that a run, a batch or a sweep left, and may have left cut or changed since. */
import { UsageError } from './errors.ts';
import { textFileBytes } from './input-file.ts';
import {
  errorCodeOf,
  invalid,
  parseYaml,
  reservedKey,
  readYamlText,
  type FileKind,
} from './yaml-file.ts';

/** The `schemaVersion` that this program writes, where the file has one. */
export interface JsonKind<T> extends FileKind<T> {
  readonly version?: number;
}

/** Longest text in which the place of an error is looked for: in longer ones it would take minutes. */
const locatedLength = 256 * 1024;

/** Throws UsageError `…_UNREADABLE`, `…_INVALID` or `…_NEWER`. */
export const readJson = <T>(path: string, kind: JsonKind<T>): T =>
  parseJson(readYamlText(path, kind, textFileBytes), path, kind);

/** `path` stands before what is wrong. Throws UsageError `…_INVALID` or `…_NEWER`. */
export function parseJson<T>(text: string, path: string, kind: JsonKind<T>): T {
  const value = valueOf(text, path, kind);
  refuseNewer(value, path, kind);
  const parsed = kind.schema.safeParse(value);
  if (parsed.success) return parsed.data;
  // JSON is YAML, whose parser knows where each value stands.
  if (text.length <= locatedLength) parseYaml(text, path, kind);
  const complaints = parsed.error.issues.map(
    ({ path: where, message }) => `${path}: ${where.map(String).join('.')}: ${message}`,
  );
  throw invalid(complaints, kind);
}

function valueOf<T>(text: string, path: string, kind: JsonKind<T>): unknown {
  try {
    return JSON.parse(text, refuseReserved);
  } catch (cause) {
    if (text.length <= locatedLength) parseYaml(text, path, kind);
    throw invalid([`${path}: ${cause instanceof Error ? cause.message : 'no JSON'}`], kind);
  }
}

function refuseReserved(key: string, value: unknown): unknown {
  if (key !== reservedKey) return value;
  throw new Error(`a key must not be called ${reservedKey}`);
}

function refuseNewer<T>(value: unknown, path: string, { kind, version }: JsonKind<T>): void {
  if (version === undefined || typeof value !== 'object' || value === null) return;
  const found: unknown = 'schemaVersion' in value ? value.schemaVersion : undefined;
  if (typeof found === 'number' && found > version) throw newer(kind, path, found, version);
}

/** What a later version wrote may mean something else: it is not guessed at. */
export const newer = (kind: string, path: string, found: number, known: number): UsageError =>
  new UsageError(
    `${errorCodeOf(kind)}_NEWER`,
    `${path} has version ${found}; this forcedetach reads up to ${known}`,
    { hint: 'use the forcedetach that wrote it, or a newer one' },
  );
