/** Reads a matrix file. What is wrong in it is said with its line, its path and a hint. */
import { parseYaml, readYaml, type FileKind } from '../yaml-file.ts';
import { matrixSchema, type Matrix } from './matrix-schema.ts';

const matrixFile: FileKind<Matrix> = {
  kind: 'matrix',
  schema: matrixSchema,
  hint: 'docs/reference/matrix.md has every key, docs/reference/scenarios.md every field',
  example: 'experiments/matrices/default.yaml',
};

/** Throws UsageError `MATRIX_UNREADABLE` or `MATRIX_INVALID`. */
export const readMatrix = (path: string): Matrix => readYaml(path, matrixFile);

/** `name` stands before each line number. Throws UsageError `MATRIX_INVALID`. */
export const parseMatrix = (text: string, name: string): Matrix =>
  parseYaml(text, name, matrixFile);
