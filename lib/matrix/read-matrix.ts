/** Reads a matrix file. What is wrong in it is said with its line, its path and a hint. */
import { hintOnOldKeys } from '../experiment/written.ts';
import { parseYaml, readYaml, type FileKind, type OnHint } from '../yaml-file.ts';
import { matrixSchema, oldKeysOf, type Matrix } from './matrix-schema.ts';

const matrixFile: FileKind<Matrix> = {
  kind: 'matrix',
  schema: matrixSchema,
  hint: 'docs/reference/matrix.md has every key, docs/reference/scenarios.md every field',
  example: 'experiments/matrices/default.yaml',
  hintOn: (file) => hintOnOldKeys(oldKeysOf(file)),
};

/** Throws UsageError `MATRIX_UNREADABLE` or `MATRIX_INVALID`. */
export const readMatrix = (path: string, onHint?: OnHint): Matrix =>
  readYaml(path, matrixFile, onHint);

/** `name` stands before each line number. Throws UsageError `MATRIX_INVALID`. */
export const parseMatrix = (text: string, name: string, onHint?: OnHint): Matrix =>
  parseYaml(text, name, matrixFile, onHint);
