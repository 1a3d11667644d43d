import { expect, test } from 'vitest';
import { exampleCell } from '../../../test/support/example-cell.ts';
import { heatMapOf, heatMapSvg } from './pictures.ts';

test('labels of columns are broken into lines that fit above them', () => {
  const columns = ['unfenced', 'exclusive, watchers unseen', 'fence-if-out-of-service'];
  const eight = [...columns, ...columns, 'fenced', 'reservation'];
  const svg = heatMapSvg({
    across: 'disk',
    down: 'case',
    columns: eight,
    rows: ['cut off, force-delete'],
    squares: [],
  });
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

test('axes are named, and a bare number stands with the name of its own', () => {
  const axes = [
    { name: 'remedy', labels: ['none'] },
    { name: 'rate', labels: ['25', '0'] },
    { name: 'disk', labels: ['fenced', 'unfenced', 'exclusive'] },
  ];
  const cell = {
    ...exampleCell('x', 'safe', 0),
    place: { remedy: 'none', rate: '0', disk: 'fenced' },
  };
  const map = heatMapOf({ axes, cells: [cell] });
  expect(map).toMatchObject({ across: 'disk', down: 'remedy · rate', rows: ['none · rate 0'] });
});
