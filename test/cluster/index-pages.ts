/** Makes a secondary index older than its table, as a second writer's stale cache does. */
import type { BareHost } from './bare-host.ts';

/**
 * Copies each leaf page of the file's last index from the older file over the newer one. Offsets
 * are those of FIL_PAGE_TYPE and PAGE_INDEX_ID (MySQL: fil0types.h, page0types.h). Both versions of
 * a page carry a valid checksum, so only their content tells.
 */
const script = `
  const { readFileSync, writeFileSync } = require('node:fs');
  const [older, newer] = process.argv.slice(1);
  const pageBytes = 16384;
  const from = readFileSync(older);
  const to = readFileSync(newer);
  const indexOf = (file, at) =>
    file.readUInt16BE(at + 24) === 17855 ? file.readBigUInt64BE(at + 66) : -1n;
  let last = -1n;
  for (let at = 0; at < to.length; at += pageBytes) {
    if (indexOf(to, at) > last) last = indexOf(to, at);
  }
  let swapped = 0;
  for (let at = 0; at < Math.min(from.length, to.length); at += pageBytes) {
    if (indexOf(from, at) !== last || indexOf(to, at) !== last) continue;
    from.copy(to, at, at, at + pageBytes);
    swapped += 1;
  }
  writeFileSync(newer, to);
  console.log(swapped);`;

/** Both are tablespaces of one table. Throws where no page could be swapped. */
export async function swapIndexPages(host: BareHost, older: string, newer: string): Promise<void> {
  const swapped = await host.sh('node -e "$1" "$2" "$3"', script, older, newer);
  if (!(Number(swapped) > 0)) throw new Error(`no page of ${newer} could be swapped`);
}
