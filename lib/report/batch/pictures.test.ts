import { expect, test } from 'vitest';
import { exampleCell } from './example.ts';
import { heatMapOf, heatMapSvg } from './pictures.ts';

test('labels of columns are broken into lines that fit above them', () => {
  const columns = ['unfenced', 'exclusive, watchers unseen', 'fence-if-out-of-service'];
  const eight = [...columns, ...columns, 'fenced', 'reservation'];
  const svg = heatMapSvg({ columns: eight, rows: ['cut off, force-delete'], squares: [] });
  const texts = [...svg.matchAll(/<text[^>]*>([^<]+)</g)].map(([, text]) => text ?? '');
  expect(texts).toContain('unfenced');
  expect(texts).toContain('exclusive,');
  expect(texts).toContain('watchers unseen');
  expect(texts).toContain('fence-if-out-of-');
  expect(texts).not.toContain('fence-if-out-of-service');
});

test('the only axis runs down, where its labels have room', () => {
  const cells = ['a', 'b'].map((label) => exampleCell(label, 'safe', 0));
  const map = heatMapOf({ axes: [{ name: 'disk', labels: ['a', 'b'] }], cells });
  expect(map).toMatchObject({ columns: ['verdict'], rows: ['a', 'b'] });
  expect(map?.squares.map(({ row, column }) => [row, column])).toEqual([
    [0, 0],
    [1, 0],
  ]);
});
