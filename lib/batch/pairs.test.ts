import { expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { cellsOf } from './cells.ts';
import { unlikeLabels } from './summarize.ts';
import { parseMatrix } from './matrix.ts';

function unlikeIn(text: string): Record<string, [string, string][]> {
  const matrix = parseMatrix(text, 'm.yaml');
  const cells = cellsOf(matrix);
  return Object.fromEntries(matrix.axes.map((axis) => [axis.name, unlikeLabels(axis, cells)]));
}
const ofFile = (name: string): Record<string, [string, string][]> =>
  unlikeIn(readFileSync(`experiments/matrices/${name}.yaml`, 'utf8'));

test('values of a field differ in one thing, with what belongs to one of them only', () => {
  expect(ofFile('disks')).toEqual({ remedy: [], 'fault.link': [], 'load.rate': [], disk: [] });
  expect(ofFile('default')['storage']).toEqual([]);
});

test('named cases that differ in two things are unlike, in one or in a timer they are not', () => {
  const unlike = ofFile('default')['case'] ?? [];
  const first = ['cut off, force-delete', 'cut off, out-of-service', 'crashed, force-delete'];
  expect(unlike.filter((pair) => pair.every((label) => first.includes(label)))).toEqual([
    ['cut off, out-of-service', 'crashed, force-delete'],
  ]);
  // A fault, a remedy and its moment.
  expect(unlike).toContainEqual(['shut down, force-delete', 'cut off, switched off and tainted']);
});
