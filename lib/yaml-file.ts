/** Reads a YAML file that people write. What is wrong in it is said with its line, path and a hint. */
import { readFileSync } from 'node:fs';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import type { z } from 'zod';
import { UsageError } from './errors.ts';

export interface YamlKind<T> {
  /** What the file is, in a word: `matrix`. Errors are `MATRIX_UNREADABLE` and `MATRIX_INVALID`. */
  readonly kind: string;
  readonly schema: z.ZodType<T>;
  /** Where its keys are explained. */
  readonly hint: string;
  /** Path of one such file. */
  readonly example: string;
}

/** Throws UsageError `…_UNREADABLE` or `…_INVALID`. */
export const readYaml = <T>(path: string, kind: YamlKind<T>): T =>
  parseYaml(textOf(path, kind), path, kind);

function textOf<T>(path: string, { kind, example }: YamlKind<T>): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UsageError(`${kind.toUpperCase()}_UNREADABLE`, `${path} can't be read`, {
      hint: `give the path of a YAML file, such as ${example}`,
      cause,
    });
  }
}

/** `name` stands before each line number. Throws UsageError `…_INVALID`. */
export function parseYaml<T>(text: string, name: string, kind: YamlKind<T>): T {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  if (document.errors.length > 0) {
    const complaints = document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message}`);
    throw invalid(complaints, kind);
  }
  const parsed = kind.schema.safeParse(plainOf(document, name, kind));
  if (parsed.success) return parsed.data;
  const complaints = parsed.error.issues.map(({ path, message }) => {
    const where = path.map(String).join('.');
    return `${at(offsetOf(document, path))}: ${where === '' ? message : `${where}: ${message}`}`;
  });
  throw invalid(complaints, kind);
}

/** An alias without its anchor, or one that unfolds without end, is found only here. */
function plainOf<T>(document: Document, name: string, kind: YamlKind<T>): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw invalid([`${name}: ${error instanceof Error ? error.message : String(error)}`], kind);
  }
}

const invalid = <T>(complaints: readonly string[], { kind, hint }: YamlKind<T>): UsageError =>
  new UsageError(
    `${kind.toUpperCase()}_INVALID`,
    `the ${kind} is not valid:\n${complaints.join('\n')}`,
    { hint },
  );

/** Where the value stands, or the nearest one around it where there is none. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
