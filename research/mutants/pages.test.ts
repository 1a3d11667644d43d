/** Which leaf is put back to an older state: one whose neighbours still link to it. */
import { expect, test } from 'vitest';
import { pageBytes, seal, stalePageOf } from './pages.ts';

const noPage = 0xffff_ffff;

interface Leaf {
  readonly prev: number;
  readonly next: number;
  readonly records: number;
}

/** Pages 1, 2 … of one index, all of them leaves with valid checksums. */
function tablespace(leaves: readonly Leaf[]): Buffer {
  const pages = leaves.map(({ prev, next, records }) => {
    const page = Buffer.alloc(pageBytes);
    page.writeUInt32BE(prev, 8);
    page.writeUInt32BE(next, 12);
    page.writeUInt16BE(17_855, 24);
    page.writeUInt16BE(records, 54);
    page.writeBigUInt64BE(7n, 66);
    seal(page);
    return page;
  });
  return Buffer.concat([Buffer.alloc(pageBytes), ...pages]);
}

const first = { prev: noPage, next: 2, records: 90 };
const older = tablespace([first, { prev: 1, next: noPage, records: 30 }]);
const stillThere = older.subarray(2 * pageBytes, 3 * pageBytes);

test('a leaf whose left neighbour is the same is put back byte for byte', () => {
  const newer = tablespace([
    first,
    { prev: 1, next: 3, records: 90 },
    { prev: 2, next: noPage, records: 9 },
  ]);
  expect(stalePageOf(older, newer, 0)).toEqual({ number: 2, page: stillThere });
});

test('one that a late row gave another left neighbour keeps that link, with a valid checksum', () => {
  // Page 3 came between 1 and 2.
  const newer = tablespace([
    { prev: noPage, next: 3, records: 45 },
    { prev: 3, next: 4, records: 90 },
    { prev: 1, next: 2, records: 46 },
    { prev: 2, next: noPage, records: 9 },
  ]);
  const found = stalePageOf(older, newer, 0);
  const relinked = tablespace([first, { prev: 3, next: noPage, records: 30 }]);
  expect(found).toEqual({ number: 2, page: relinked.subarray(2 * pageBytes) });
});

test('one whose right neighbour has become another is left alone', () => {
  const middle = tablespace([
    { prev: noPage, next: 2, records: 90 },
    { prev: 1, next: noPage, records: 30 },
  ]);
  const newer = tablespace([
    { prev: noPage, next: 3, records: 45 },
    { prev: 3, next: noPage, records: 30 },
    { prev: 1, next: 2, records: 46 },
  ]);
  // Page 1 links to 2, which links back to 3; page 2 differs by its link alone.
  expect(stalePageOf(middle, newer, 0)?.number).toBe(2);
  expect(stalePageOf(middle, middle, 0)).toBeUndefined();
});
