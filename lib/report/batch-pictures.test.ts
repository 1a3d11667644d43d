import { expect, test } from 'vitest';
import { heatMapSvg } from './batch-pictures.ts';

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
