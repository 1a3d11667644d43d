/**
 * `node writer.ts DEVICE NODE EVERY_MS FIRST`: writes tokens to the device, from that number on, each with O_DIRECT and a
 * flush, and prints its journal. `idle`, `write` and `end` on stdin. A request that hangs holds up neither stdin nor the clock.
 */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { blockBytes, blockOf, fillBlock, nodes, sharedBlock, tokenIn } from './token.ts';

const [device = '', name = '', every = '50', first = '1'] = process.argv.slice(2);
const node = nodes.find((each) => each === name) ?? 'a';
const everyMs = Number(every);

const nowMs = (): string => (Number(process.hrtime.bigint()) / 1e6).toFixed(3);
const note = (...words: readonly (string | number)[]): void =>
  void process.stdout.write(`${words.join(' ')}\n`);

declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
};
// Direct I/O needs memory at a page's beginning, which is where this begins.
const memory = new WebAssembly.Memory({ initial: 1 }).buffer;
const block = Buffer.from(memory, 0, blockBytes);
const found = Buffer.from(memory, blockBytes, blockBytes);

const now: { does: 'write' | 'idle' | 'end' } = { does: 'write' };
const commands = createInterface({ input: process.stdin });
commands.on('line', (line) => {
  if (line === 'write' || line === 'idle' || line === 'end') now.does = line;
});
commands.on('close', () => process.exit(0));

const tickMs = 100;
let last = performance.now();
setInterval(() => {
  const lateMs = performance.now() - last - tickMs;
  last += lateMs + tickMs;
  if (lateMs > tickMs) note('late', lateMs.toFixed(0));
}, tickMs).unref();

const file = await open(device, constants.O_RDWR | constants.O_DIRECT);
for (let seq = Number(first); ; seq += 1) {
  while (now.does === 'idle') await sleep(everyMs);
  if (now.does === 'end') break;
  const token = { node, seq };
  const number = blockOf(token);
  try {
    // The one that came later looks for what the other leaves on it.
    if (node === 'b' && number === sharedBlock) await look();
    fillBlock(block, token);
    note('asks', seq, nowMs());
    await file.write(block, 0, blockBytes, number * blockBytes);
    await file.sync();
    note('done', seq, nowMs());
  } catch (error) {
    note('fails', seq, nowMs(), (error as NodeJS.ErrnoException).code ?? 'unknown');
  }
  await sleep(everyMs);
}
process.exit(0);

async function look(): Promise<void> {
  await file.read(found, 0, blockBytes, sharedBlock * blockBytes);
  const other = tokenIn(found);
  if (other !== undefined && other.node !== node) note('finds', other.seq, nowMs());
}
