import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { arrayAt } from './array-client.ts';

let root: string;
let socketPath: string;
let server: Server | undefined;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'forcedetach-array-'));
  socketPath = join(root, 'array.sock');
});

afterEach(async () => {
  server?.close();
  server = undefined;
  await rm(root, { recursive: true });
});

/** A server that answers each line by the function; undefined: it hangs up. Resolves with the lines. */
async function answerBy(answer: (line: string) => object | undefined): Promise<string[]> {
  const asked: string[] = [];
  server = createServer((socket) => {
    createInterface({ input: socket }).on('line', (line) => {
      asked.push(line);
      const reply = answer(line);
      if (reply === undefined) socket.destroy();
      else socket.write(`${JSON.stringify(reply)}\n`);
    });
  });
  await new Promise<void>((listening) => {
    server?.listen(socketPath, listening);
  });
  return asked;
}

test('where nothing answers, or it hangs up, there is no array', async () => {
  const array = arrayAt(socketPath);
  await expect(array.ping()).rejects.toMatchObject({ code: 'NO_ARRAY' });
  await answerBy(() => undefined);
  await expect(array.ping()).rejects.toMatchObject({ code: 'NO_ARRAY' });
});

test('an array that does not answer in time is an error of its own', async () => {
  await answerBy(() => ({}));
  server?.removeAllListeners('connection');
  const array = arrayAt(socketPath, { timeoutMs: 50 });
  await expect(array.ping()).rejects.toMatchObject({ code: 'ARRAY_TIMEOUT' });
});
