/** Reads a matrix file. What is wrong in it is said with its line, its path and a hint. */
import { readFileSync } from 'node:fs';
import { isNode, LineCounter, parseDocument, type Document } from 'yaml';
import { UsageError } from '../errors.ts';
import { matrixSchema, type Matrix } from './matrix-schema.ts';

const hint = 'docs/matrix.md has every key, docs/scenarios.md every field';

/** Throws UsageError `MATRIX_UNREADABLE` or `MATRIX_INVALID`. */
export function readMatrix(path: string): Matrix {
  return parseMatrix(textOf(path), path);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UsageError('MATRIX_UNREADABLE', `${path} can't be read`, {
      hint: 'give the path of a YAML file, such as experiments/matrices/default.yaml',
      cause,
    });
  }
}

/** `name` stands before each line number. Throws UsageError `MATRIX_INVALID`. */
export function parseMatrix(text: string, name: string): Matrix {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  if (document.errors.length > 0) {
    throw invalid(document.errors.map(({ pos, message }) => `${at(pos[0])}: ${message}`));
  }
  const parsed = matrixSchema.safeParse(document.toJS());
  if (parsed.success) return parsed.data;
  const complaints = parsed.error.issues.map(({ path, message }) => {
    const where = path.map(String).join('.');
    return `${at(offsetOf(document, path))}: ${where === '' ? message : `${where}: ${message}`}`;
  });
  throw invalid(complaints);
}

const invalid = (complaints: readonly string[]): UsageError =>
  new UsageError('MATRIX_INVALID', `the matrix is not valid:\n${complaints.join('\n')}`, { hint });

/** Where the value stands, or the nearest one around it where there is none. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
