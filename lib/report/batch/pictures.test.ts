import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exampleCell } from '../../../test/support/example-cell.ts';
import { heatMapOf, heatMapSvg, squareColors } from './pictures.ts';

const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]+)</g)].map(([, text = '']) => text);

test('the longer side runs down, on the page and in the picture; labels are broken at spaces', async () => {
  const disks = ['unfenced', 'exclusive, watchers unseen', 'fence-if-out-of-service'];
  const cases = ['cut off, force-delete', 'crashed & <b>'];
  const cells = cases.flatMap((label) =>
    disks.map((disk) => ({ ...exampleCell(disk, 'safe', 0), place: { case: label, disk } })),
  );
  const axes = [
    { name: 'case', labels: cases },
    { name: 'disk', labels: disks },
  ];
  const map = heatMapOf({ axes, cells });
  expect(map).toMatchObject({ across: 'case', down: 'disk', columns: cases, rows: disks });
  if (map === undefined) throw new Error('no grid');
  const texts = textsOf(await heatMapSvg(map));
  for (const part of ['cut off,', 'force-delete', 'exclusive, watchers unseen'])
    expect(texts).toContain(part);
  expect(texts.join(' ')).toContain('crashed &amp; &lt;b&gt;');
});

test('the picture has the colours of the page, and no ground of its own', async () => {
  const page = readFileSync('lib/report/browser/style.css', 'utf8');
  for (const [word, color] of Object.entries(squareColors))
    expect(page).toContain(`.square.${word} { background: ${color};`);
  const cells = [exampleCell('a', 'corrupt', 1)];
  const map = heatMapOf({ axes: [{ name: 'disk', labels: ['a'] }], cells });
  if (map === undefined) throw new Error('no grid');
  const svg = await heatMapSvg(map);
  expect(svg.match(/<rect/g)).toHaveLength(1);
  expect(svg).toContain('prefers-color-scheme: dark');
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
  expect(map).toMatchObject({ across: 'remedy · rate', down: 'disk', columns: ['none · rate 0'] });
});
