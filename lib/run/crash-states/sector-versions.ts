/**
 * Which write each sector of an image has, so that writes may reach it in any order: a flush of one
 * path can make an old write durable after a younger one of another path. The younger one stays.
 */
import { EvidenceError } from '../../core/index.ts';

/** The smallest piece that a disk writes whole. */
export const sectorBytes = 512;

/** Part of a volume, bytes. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** Sectors that share one array: 1 MiB of the volume. */
const sectorsPerPage = 2048;

export class SectorVersions {
  /** 1 + index of the write that a sector has, 0 for none; only for parts that were written. */
  readonly #pages = new Map<number, Uint32Array>();

  /** Notes the write; gives the parts of it that no younger write has, in order. */
  claim(index: number, range: ByteRange): ByteRange[] {
    const parts = this.unclaimed(index, range);
    for (const { offset, length } of parts) {
      const first = offset / sectorBytes;
      for (let sector = first; sector < first + length / sectorBytes; sector += 1) {
        this.#page(sector)[sector % sectorsPerPage] = index + 1;
      }
    }
    return parts;
  }

  /** The same without noting it. Throws where the range is not made of whole sectors. */
  unclaimed(index: number, { offset, length }: ByteRange): ByteRange[] {
    if (offset % sectorBytes !== 0 || length % sectorBytes !== 0) {
      const what = `write ${index}, ${length} bytes at ${offset}, is not made of whole sectors`;
      throw new EvidenceError('WRITE_UNALIGNED', what);
    }
    const parts: { offset: number; length: number }[] = [];
    let open: { offset: number; length: number } | undefined;
    const first = offset / sectorBytes;
    for (let sector = first; sector < first + length / sectorBytes; sector += 1) {
      if (this.#version(sector) > index + 1) {
        open = undefined;
      } else if (open === undefined) {
        open = { offset: sector * sectorBytes, length: sectorBytes };
        parts.push(open);
      } else {
        open.length += sectorBytes;
      }
    }
    return parts;
  }

  #version(sector: number): number {
    const page = this.#pages.get(Math.floor(sector / sectorsPerPage));
    return page?.[sector % sectorsPerPage] ?? 0;
  }

  #page(sector: number): Uint32Array {
    const number = Math.floor(sector / sectorsPerPage);
    let page = this.#pages.get(number);
    if (page === undefined) this.#pages.set(number, (page = new Uint32Array(sectorsPerPage)));
    return page;
  }
}
