/** InnoDB pages: where they are, what they are, and how a changed one gets a valid checksum again. */
import type { BareDisk } from '../../test/cluster/bare-volume.ts';
import type { Workshop } from './workshop.ts';

/** innodb_page_size's default. */
export const pageBytes = 16_384;

/** Offsets and values from MySQL: fil0types.h, page0types.h. */
const at = { checksum: 0, prev: 8, next: 12, type: 24, records: 54, level: 64, index: 66 } as const;
/** FIL_NULL: there is no such neighbour. */
const noPage = 0xffff_ffff;
const trailerBytes = 8;
const indexPageType = 17_855;

export interface IndexPage {
  readonly number: number;
  /** Ids of a table's indexes ascend in the order in which they were made: the clustered one first. */
  readonly index: bigint;
  readonly level: number;
  readonly records: number;
}

/** A tablespace, read as a whole. */
export async function readTablespace(
  { host }: Workshop,
  { mountPoint }: BareDisk,
  file: string,
): Promise<Buffer> {
  return Buffer.from(await host.sh('base64 -w0 "$1"', `${mountPoint}/${file}`), 'base64');
}

/** Puts one page into the tablespace, as it is. */
export async function writePage(
  { host }: Workshop,
  { mountPoint }: BareDisk,
  file: string,
  number: number,
  page: Buffer,
): Promise<void> {
  const script =
    'printf %s "$3" | base64 -d | dd of="$1" bs=16384 seek="$2" conv=notrunc status=none';
  await host.sh(script, `${mountPoint}/${file}`, number, page.toString('base64'));
}

export const pageOf = (tablespace: Buffer, number: number): Buffer =>
  Buffer.from(tablespace.subarray(number * pageBytes, (number + 1) * pageBytes));

/** Leaf pages with rows of one index. */
export const leavesOf = (tablespace: Buffer, index: number): IndexPage[] =>
  pagesOf(tablespace, index).filter(({ level, records }) => level === 0 && records > 0);

/** Pages of one index: 0 is the clustered index, 1 the first secondary one. */
export function pagesOf(tablespace: Buffer, index: number): IndexPage[] {
  const pages = indexPages(tablespace);
  const ids = [...new Set(pages.map((page) => page.index))].toSorted((a, b) => Number(a - b));
  return pages.filter((page) => page.index === ids[index]);
}

/** Pages of all indexes, in the order of the file. */
export function indexPages(tablespace: Buffer): IndexPage[] {
  const pages: IndexPage[] = [];
  for (let start = 0; start + pageBytes <= tablespace.length; start += pageBytes) {
    if (tablespace.readUInt16BE(start + at.type) !== indexPageType) continue;
    pages.push({
      number: start / pageBytes,
      index: tablespace.readBigUInt64BE(start + at.index),
      level: tablespace.readUInt16BE(start + at.level),
      records: tablespace.readUInt16BE(start + at.records),
    });
  }
  return pages;
}

const linkOf = (page: Buffer, side: 'prev' | 'next'): number => page.readUInt32BE(at[side]);

/** The page of an index to be put back to an older state, and what is put there. */
export interface StalePage {
  readonly number: number;
  readonly page: Buffer;
}

/**
 * The last leaf of an older state that has changed since, as it was then, but for the link to its left
 * neighbour. A row that comes late splits the leaf before the last one; on a busy machine rows come
 * late. InnoDB ends itself at a page whose neighbour does not link back: that is a wrong page, and no
 * stale one. Undefined where there is none.
 */
export function stalePageOf(older: Buffer, newer: Buffer, index: number): StalePage | undefined {
  const had = new Set(leavesOf(older, index).map(({ number }) => number));
  const both = pagesOf(newer, index).filter(({ number }) => had.has(number));
  const found = both.findLast(({ number }) => {
    const [was, is] = [pageOf(older, number), pageOf(newer, number)];
    const next = linkOf(was, 'next');
    return !was.equals(is) && (next === noPage || next === linkOf(is, 'next'));
  });
  if (found === undefined) return undefined;
  const { number } = found;
  const page = pageOf(older, number);
  const left = linkOf(pageOf(newer, number), 'prev');
  if (left !== linkOf(page, 'prev')) {
    page.writeUInt32BE(left, at.prev);
    seal(page);
  }
  return { number, page };
}

/** Gives a changed page the checksum that it must have: innodb_checksum_algorithm crc32. */
export function seal(page: Buffer): void {
  const end = pageBytes - trailerBytes;
  const sum = (crc32c(page.subarray(4, 26)) ^ crc32c(page.subarray(38, end))) >>> 0;
  page.writeUInt32BE(sum, at.checksum);
  page.writeUInt32BE(sum, end);
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) === 1 ? 0x82f63b78 : 0);
  return crc >>> 0;
});

/** CRC-32C (Castagnoli), as InnoDB computes it; Node's own crc32 is the other polynomial. */
function crc32c(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crcTable[(crc ^ byte) & 0xff] ?? 0) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
