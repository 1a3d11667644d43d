/** Reads a YAML file that people write. What is wrong in it is said with its line, path and a hint. */
import { existsSync } from 'node:fs';
import { isNode, isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml';
import { z } from 'zod';
import { orShipped } from './checkout.ts';
import { UsageError } from './errors.ts';
import { mebibyte, readText } from './input-file.ts';
import { nearestOf } from './nearest.ts';

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
export function readYamlText<T>(
  path: string,
  { kind, example }: FileKind<T>,
  mostBytes: number,
): string {
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
export const reservedKey = '__proto__';

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

export const errorCodeOf = (kind: string): string => kind.toUpperCase().replaceAll(' ', '_');

/** Where the value stands, or the nearest one around it where there is none. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
