/** The array against a real kernel: what a node's file system and its requests meet. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PowerLoss } from '../../lib/scenario/disk-kinds.ts';
import { ArrayHost, eventually } from './array-host.ts';

let host: ArrayHost;

beforeAll(async () => {
  host = await ArrayHost.start((line) => console.error(line));
}, 300_000);

afterAll(async () => {
  await host.closeAll();
  const left = await leftovers(host);
  await host[Symbol.asyncDispose]();
  expect(left).toBe('');
}, 60_000);

/** What stays of its devices; nothing, after a moment. */
const leftovers = (of: ArrayHost): Promise<string> =>
  eventually(async () => {
    const found = await of.leftovers();
    if (found !== '') throw new TypeError(found);
    return found;
  }).catch(String);

const blockBytes = 4096;
/** Writes the letter over one block of the device, past every cache, without a flush. */
const put = (device: string, block: number, letter: string, flags = 'direct'): Promise<string> =>
  host.sh(
    `head -c ${blockBytes} /dev/zero | tr '\\0' "$3" > "/tmp/block.$2"
     dd if="/tmp/block.$2" of="$1" bs=${blockBytes} seek="$2" oflag=$4 conv=notrunc status=none`,
    device,
    block,
    letter,
    flags,
  );

/** First byte of a block as the device shows it. */
const get = (device: string, block: number, flags = ''): Promise<string> =>
  host.sh(
    `dd if="$1" bs=${blockBytes} skip="$2" count=1 iflag=fullblock${flags} status=none | head -c 1 | tr '\\0' .`,
    device,
    block,
  );

/** First bytes of the first blocks of disk.img, zeros as dots. */
const letters = (volume: string, blocks: number): string => {
  const disk = host.disk(volume);
  const codes = Array.from({ length: blocks }, (_, block) => disk.readUInt8(block * blockBytes));
  return String.fromCharCode(...codes).replaceAll('\0', '.');
};

test('two paths to one volume have caches of their own', async () => {
  const volume = host.volume('diverge');
  const [a, b] = [await host.open(volume, 'a'), await host.open(volume, 'b')];
  expect(await get(b, 0)).toBe('.');
  // Something else keeps the device open: at its last close the kernel drops its cache.
  await host.sh('sleep 30 <"$1" >/dev/null 2>&1 & echo $! > /tmp/holder', b);
  expect(await get(b, 0)).toBe('.');
  await put(a, 0, 'x');
  expect(await get(b, 0)).toBe('.');
  expect(await get(b, 0, ',direct')).toBe('x');
  await host.sh('kill "$(cat /tmp/holder)"');
});

test('a stalled link holds requests and serves them in their order when it passes', async () => {
  const volume = host.volume('stall');
  const device = await host.open(volume, 'stalled');
  await host.array.link({ node: 'stalled', state: 'stall' });
  const writes: Promise<string>[] = [];
  for (const block of [5, 3, 8, 1]) {
    writes.push(put(device, block, 'x'));
    await host.holds(volume, 1, writes.length);
  }
  expect(letters(volume, 9)).toBe('.........');
  expect((await host.path(volume, 1)).linkNs).toBeGreaterThan(0);
  await host.array.link({ node: 'stalled', state: 'pass' });
  await Promise.all(writes);
  expect(letters(volume, 9)).toBe('.x.x.x..x');
  const applied = (await host.log(volume)).filter(({ op }) => op === 1);
  expect(applied.map(({ offset }) => offset / blockBytes)).toEqual([5, 3, 8, 1]);
});

test('a failing link is an I/O error at once, and passes again', async () => {
  const volume = host.volume('fail');
  const device = await host.open(volume, 'failing');
  await host.array.link({ node: 'failing', state: 'fail' });
  await expect(put(device, 0, 'x')).rejects.toThrow(/Input\/output error/);
  await host.array.link({ node: 'failing', state: 'pass' });
  await put(device, 1, 'y');
  expect(letters(volume, 2)).toBe('.y');
});

test('a cut ends held requests with an I/O error, and the disk can be unmounted and closed', async () => {
  const volume = host.volume('cut');
  const device = await host.open(volume, 'victim');
  await host.sh('mke2fs -q -t ext4 "$1"; mkdir -p /mnt/cut; mount "$1" /mnt/cut', device);
  const path = { volume, generation: 1 };
  await expect(host.array.close(path)).rejects.toMatchObject({ code: 'PATH_BUSY' });
  await host.array.link({ node: 'victim', state: 'stall' });
  const writing = host.sh('dd if=/dev/zero of=/mnt/cut/file bs=4k count=1 conv=fsync status=none');
  const refused = expect(writing).rejects.toThrow(/Input\/output error/);
  await eventually(async () => expect((await host.path(volume, 1)).held).toBeGreaterThan(0));
  await host.array.cut({ ...path, why: 'fence' });
  const before = host.disk(volume);
  await refused;
  // No link and no later request undoes a cut.
  await host.array.link({ node: 'victim', state: 'pass' });
  await expect(put(device, 0, 'x')).rejects.toThrow(/Input\/output error/);
  await host.sh('umount /mnt/cut');
  expect(host.disk(volume).equals(before)).toBe(true);
  await host.array.close(path);
  expect((await host.path(volume, 1)).state).toBe('closed');
  const again = {
    ...path,
    node: 'victim',
    loop: 5399,
    keepData: false,
    flushes: 'honest',
  } as const;
  await expect(host.array.open(again)).rejects.toMatchObject({ code: 'PATH_CUT' });
});

test('a generation that was fenced before it was opened can never be opened', async () => {
  const volume = host.volume('early');
  await host.array.cut({ volume, generation: 1, why: 'fence' });
  await expect(host.open(volume, 'a')).rejects.toMatchObject({ code: 'PATH_CUT' });
  const device = await host.open(volume, 'b');
  await put(device, 0, 'x');
  expect(letters(volume, 1)).toBe('x');
});

/** What of four blocks written without a flush (a to d) is left behind a flushed one (s). */
const losses: readonly (readonly [PowerLoss, RegExp, number])[] = [
  ['keeps', /^sabcd$/, 4],
  ['drops', /^s\.\.\.\.$/, 0],
  ['reorders', /^s(?=.*\..*\w)[a.][b.][c.][d.]$/, Number.NaN],
  ['tears', /^s[a.][b.][c.][d.]$/, 1],
];

test.each(losses)('power loss that %s unflushed writes', async (unflushed, left, kept) => {
  const volume = host.volume(`power-${unflushed}`);
  const device = await host.open(volume, 'crash', { keepData: true });
  await put(device, 0, 's', 'direct,dsync');
  for (const [index, letter] of ['a', 'b', 'c', 'd'].entries())
    await put(device, index + 1, letter);
  const lost = await host.array.losePower({ volume, node: 'crash', unflushed, seed: '1' });
  expect(lost).toMatchObject({ paths: 1, unflushedWrites: 4, unflushedBytes: 4 * blockBytes });
  if (!Number.isNaN(kept)) expect(lost.kept).toBe(kept);
  expect(letters(volume, 5)).toMatch(left);
  if (unflushed === 'tears') {
    const torn = letters(volume, 5).search(/[abcd]/);
    const halves = host.disk(volume).subarray(torn * blockBytes, (torn + 1) * blockBytes);
    expect(halves.subarray(blockBytes / 2).every((byte) => byte === 0)).toBe(true);
    expect(halves.subarray(0, blockBytes / 2).every((byte) => byte === halves[0])).toBe(true);
  }
  expect((await host.replayed(volume)).equals(host.disk(volume))).toBe(true);
});

test('a disk that ignores flushes loses what it said was synced', async () => {
  const volume = host.volume('lies');
  const device = await host.open(volume, 'liar', { flushes: 'ignored' });
  await put(device, 0, 'x', 'direct,dsync');
  const answer = await host.array.losePower({ volume, node: 'liar', unflushed: 'drops', seed: '' });
  expect(answer.unflushedWrites).toBe(1);
  expect(letters(volume, 1)).toBe('.');
  expect((await host.log(volume)).some(({ op }) => op === 6)).toBe(true);
});

test('a copy under load is the volume at one moment', async () => {
  const volume = host.volume('copied');
  const device = await host.open(volume, 'busy');
  const blocks = 256;
  // Pass n writes the byte n into one block after the other: at each moment a prefix has it.
  const writing = host.sh(
    `for pass in $(seq 1 150); do
       head -c ${blocks * blockBytes} /dev/zero | tr '\\0' "\\\\$(printf %03o $((pass + 32)))" |
         dd of="$1" bs=${blockBytes} oflag=direct iflag=fullblock status=none
     done`,
    device,
  );
  const moments = new Set<number>();
  for (let round = 0; round < 15; round += 1) {
    const to = join(host.root, 'copies', 'moment.img');
    await host.array.copy({ volume, to });
    const copy = readFileSync(to);
    rmSync(to);
    const passes = Array.from({ length: blocks }, (_, block) => copy.readUInt8(block * blockBytes));
    const [first = 0] = passes;
    const last = passes.at(-1) ?? 0;
    const written = passes.findLastIndex((pass) => pass === first) + 1;
    expect(passes.slice(written).every((pass) => pass === last)).toBe(true);
    if (written < blocks && first > 33) expect(last).toBe(first - 1);
    moments.add(first * blocks + written);
  }
  await writing;
  expect(moments.size).toBeGreaterThan(5);
});

test('the log replayed from zeros is the disk, byte for byte', async () => {
  const volume = host.volume('log');
  const device = await host.open(volume, 'logged', { keepData: true });
  await host.sh(
    `mke2fs -q -t ext4 -E discard "$1"; mkdir -p /mnt/log; mount "$1" /mnt/log
     for n in $(seq 20); do head -c 300000 /dev/urandom > /mnt/log/$n; done; sync
     rm /mnt/log/1?; fstrim /mnt/log; umount /mnt/log`,
    device,
  );
  const records = await host.log(volume);
  expect(records.some(({ op }) => op === 4)).toBe(true);
  expect((await host.replayed(volume)).equals(host.disk(volume))).toBe(true);
  const begins = records.flatMap(({ op }, index) => (op === 2 ? [index] : []));
  const ends = records.filter(({ op }) => op === 3);
  expect(ends.length).toBeGreaterThan(3);
  for (const { offset } of ends) expect(begins).toContain(offset);
});

test('an array that is stopped answers what it holds, and its devices go with their users', async () => {
  await using stopped = await ArrayHost.start(() => undefined);
  const device = await stopped.open(stopped.volume('stopped'), 'a');
  await stopped.sh('mke2fs -q -t ext4 "$1"; mkdir -p /mnt/x; mount "$1" /mnt/x', device);
  await stopped.array.link({ node: 'a', state: 'stall' });
  const writing = stopped.sh('dd if=/dev/zero of=/mnt/x/file bs=4k count=1 conv=fsync status=none');
  const refused = expect(writing).rejects.toThrow(/Input\/output error/);
  await eventually(async () => expect((await stopped.path('stopped', 1)).held).toBeGreaterThan(0));
  await stopped.stopArray();
  await refused;
  await stopped.sh('umount /mnt/x');
  expect(
    await stopped.sh('cat "/sys/block/${1#/dev/}/loop/backing_file" 2>&1 || true', device),
  ).toMatch(/No such file/);
});
