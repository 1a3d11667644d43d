import { expect, test } from 'vitest';
import { exampleCell } from '../../../test/support/example-cell.ts';
import { heatMapOf, heatMapSvg } from './pictures.ts';

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
