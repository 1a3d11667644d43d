/** docs/reference/matrix.md says what the matrix does: its keys, its example, the schema of batch.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { batchSchema } from '../../lib/batch/batch.ts';
import { cellsOf } from '../../lib/batch/cells.ts';
import { z } from 'zod';
import { matrixSchema, parseMatrix, readMatrix } from '../../lib/batch/matrix.ts';
import { batchPlanOf } from '../../lib/batch/batch-plan.ts';
import { committedFiles } from '../support/committed.ts';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/reference/matrix.md'), 'utf8');

test('every key of a matrix file is there, with its default', () => {
  const rows = [...page.matchAll(/^\| `(\w+)` \| (?:`(.*?)`)?/gm)];
  const documented = rows.map(([, key, value]) => [key, value ?? '']);
  const keys = Object.entries(matrixSchema.shape).map(([key, schema]) => {
    const { success, data } = schema.safeParse(undefined);
    return [key, success && data !== undefined ? JSON.stringify(data) : ''];
  });
  expect(documented).toEqual(keys);
});

test('the example makes as many cells as the page says', () => {
  const [, text = ''] = /```yaml\n(.*?)```/s.exec(page) ?? [];
  const matrix = parseMatrix(text, 'docs/reference/matrix.md');
  const cells = cellsOf(matrix);
  expect(cells.filter(({ place }) => Object.keys(place).length > 0)).toHaveLength(10);
  const trials = batchPlanOf(matrix, cells, 'seed').trials.filter(({ kind }) => kind === 'cell');
  expect(trials).toHaveLength(33);
});

test('docs/reference/batch.schema.json is the schema of batch.json', () => {
  const published: unknown = JSON.parse(
    readFileSync(join(root, 'docs/reference/batch.schema.json'), 'utf8'),
  );
  expect(published).toEqual(JSON.parse(JSON.stringify(z.toJSONSchema(batchSchema))));
});

test.each(committedFiles('experiments/matrices'))('%s has cells that can be', (file) => {
  const { name } = readMatrix(join(root, file));
  expect(`experiments/matrices/${name}.yaml`).toBe(file);
  expect(cellsOf(readMatrix(join(root, file)))).not.toHaveLength(0);
});
