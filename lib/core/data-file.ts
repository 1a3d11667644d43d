/** Reads YAML that people write and JSON that a run left. What is wrong is reported with line, path and a hint. */
import { existsSync } from 'node:fs';
import { isNode, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml';
import { z } from 'zod';
import { UsageError } from './errors.ts';
import { mebibyte, readText, textFileBytes } from './files.ts';
import { nearestOf } from './numbers.ts';
import { orShipped } from './program.ts';

/** A type whose parts can't be changed either, all the way down: of what a schema reads. */
export type Immutable<T> = T extends object ? { readonly [K in keyof T]: Immutable<T[K]> } : T;

export interface FileKind<T> {
  /** What the file is, in a word: `matrix`. Errors are `MATRIX_UNREADABLE` and `MATRIX_INVALID`. */
  readonly kind: string;
  readonly schema: z.ZodType<T>;
  /** Where its keys are explained. */
  readonly hint: string;
  /** Path of one such file. */
  readonly example: string;
  /** What its author should know of a file that is read all the same. Default: nothing. */
  readonly hintOn?: (file: unknown) => string | undefined;
}

/** Is told, in a line, of a file that is read for now. */
export type OnHint = (line: string) => void;

/** People write a few hundred lines. */
const yamlFileBytes = mebibyte;
const complaintsShown = 10;

/** Throws UsageError `…_UNREADABLE` or `…_INVALID`. */
export const readYaml = <T>(path: string, kind: FileKind<T>, onHint?: OnHint): T =>
  parseYaml(readYamlText(path, kind, yamlFileBytes), path, kind, onHint);

/** Throws UsageError `…_UNREADABLE`. */
function readYamlText<T>(path: string, { kind, example }: FileKind<T>, mostBytes: number): string {
  try {
    return readText(orShipped(path), mostBytes);
  } catch (cause) {
    const such = existsSync(orShipped(example)) ? `, such as ${example}` : '';
    throw new UsageError(`${errorCodeOf(kind)}_UNREADABLE`, `cannot read ${path}`, {
      hint: `give the path of a ${kind} file${such}`,
      cause,
    });
  }
}

/** `name` stands before each line number. `onHint`: default: nobody is told. Throws UsageError `…_INVALID`. */
export function parseYaml<T>(text: string, name: string, kind: FileKind<T>, onHint?: OnHint): T {
  const lines = new LineCounter();
  const document = documentOf(text, lines, name, kind);
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const broken = document.errors.map(({ pos, message }) => ({ at: pos[0], message }));
  const complaints = [...broken, ...reservedKeys(document)];
  if (complaints.length > 0) {
    throw invalid(
      complaints.map(({ at: offset, message }) => `${at(offset)}: ${message}`),
      kind,
    );
  }
  const plain = plainOf(document, name, kind);
  const parsed = kind.schema.safeParse(plain);
  if (parsed.success) {
    const hint = kind.hintOn?.(plain);
    if (hint !== undefined) onHint?.(`${name}: ${hint}`);
    return parsed.data;
  }
  throw invalid(
    parsed.error.issues.flatMap(withKeys(kind.schema)).map(({ path, message }) => {
      const where = path.map(String).join('.');
      return `${at(offsetOf(document, path))}: ${where === '' ? message : `${where}: ${message}`}`;
    }),
    kind,
  );
}

type Complaint = Pick<z.core.$ZodIssue, 'path' | 'message'>;

/** A key that is not there is a complaint of its own, at its place, with the key that may have been meant. */
const withKeys =
  (schema: z.ZodType) =>
  (issue: z.core.$ZodIssue): Complaint[] => {
    if (issue.code !== 'unrecognized_keys') return [issue];
    const known =
      issue.path.length === 0 && schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    return issue.keys.map((key) => {
      const nearest = nearestOf(key, known);
      const message =
        nearest === undefined ? 'no such key' : `no such key; did you mean ${nearest}?`;
      return { path: [...issue.path, key], message };
    });
  };

/** The parser goes into itself once a level: some ten thousand are too many for it. */
function documentOf<T>(
  text: string,
  lineCounter: LineCounter,
  name: string,
  kind: FileKind<T>,
): Document {
  try {
    return parseDocument(text, { lineCounter, prettyErrors: false });
  } catch (cause) {
    throw invalid([`${name}: it cannot be parsed`], kind, cause);
  }
}

/** JavaScript takes it for something else, so it would vanish from what is read. */
const reservedKey = '__proto__';

function reservedKeys(document: Document): { readonly at: number; readonly message: string }[] {
  const found: { at: number; message: string }[] = [];
  visit(document, {
    Pair(_, { key }) {
      if (!isScalar(key) || key.value !== reservedKey) return;
      found.push({ at: key.range?.[0] ?? 0, message: `a key must not be called ${reservedKey}` });
    },
  });
  return found;
}

/** An alias without its anchor, or one that unfolds without end, is found only here. */
function plainOf<T>(document: Document, name: string, kind: FileKind<T>): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw invalid([`${name}: ${error instanceof Error ? error.message : String(error)}`], kind);
  }
}

export function invalid<T>(
  complaints: readonly string[],
  { kind, hint }: FileKind<T>,
  cause?: unknown,
): UsageError {
  const shown = complaints.slice(0, complaintsShown);
  const more = complaints.length - shown.length;
  const all = more === 0 ? shown : [...shown, `… and ${more} more`];
  const what = `the ${kind} is not valid:\n${all.join('\n')}`;
  return new UsageError(`${errorCodeOf(kind)}_INVALID`, what, { hint, cause });
}

const errorCodeOf = (kind: string): string => kind.toUpperCase().replaceAll(' ', '_');

/** Where the value stands, or the nearest one around it where there is none. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}

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
