/** How a writer process ends: in good order only when it was asked to. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { projectRoot } from '../../core/index.ts';
import { readSegment } from '../../history/segment-reader.ts';
import type { StartMessage, ToWriter } from './writer-process.ts';
import { mysql } from '../../mysql/database.ts';
import type { DefinedIn } from '../../run/index.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'forcedetach-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

type Writer = ChildProcessByStdio<Writable, Readable, null>;

const send = (writer: Writer, message: ToWriter): boolean =>
  writer.stdin.write(`${JSON.stringify(message)}\n`);

async function startWriter(database: DefinedIn = mysql.real.definedIn): Promise<Writer> {
  const path = fileURLToPath(new URL('writer-process.ts', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'ignore'] });
  const start: StartMessage = {
    type: 'start',
    database,
    spec: { client: 'inside', connections: 1, rate: 20, seed: 's', readEveryMs: 500 },
    ...{ transferEvery: 0, seed: 's', directory, segment: 'writer-inside', originNs: '0' },
  };
  send(child, start);
  const segment = join(directory, 'writer-inside.hist');
  await vi.waitFor(() => expect(existsSync(segment)).toBe(true), { timeout: 15_000 });
  return child;
}

it('ends well when asked, and with an error when something else ends it', async () => {
  const asked = await startWriter();
  send(asked, { type: 'stop' });
  expect(await once(asked, 'exit')).toEqual([0, null]);

  rmSync(directory, { recursive: true });
  directory = mkdtempSync(join(tmpdir(), 'forcedetach-'));
  const left = await startWriter();
  left.kill('SIGTERM');
  expect(await once(left, 'exit')).toEqual([1, null]);

  rmSync(directory, { recursive: true });
  directory = mkdtempSync(join(tmpdir(), 'forcedetach-'));
  const orphan = await startWriter();
  orphan.stdin.end();
  expect(await once(orphan, 'exit')).toEqual([1, null]);
});

/** A server in pod `theirs`, which takes everything. */
const theirs = `
const take = async () => undefined;
const session = { server: { node: 'n', podUid: 'theirs', startedAtS: 0 }, append: take, transfer: take,
  put: take, remove: take, changeSchema: take, readHead: take, close: take };
export const database = { real: { server: async () => ({ connect: async () => session }) } };
`;

it('writes to no server but that of the pod which it was sent to, whatever answers at its address', async () => {
  const module = join(directory, 'theirs.mjs');
  writeFileSync(module, theirs);
  const child = await startWriter({ module: relative(projectRoot, module), name: 'database' });
  const lines: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => lines.push(text));
  const acked = (): boolean => lines.join('').includes('"acked":{"n":');
  const socketPath = join(directory, 'any.sock');
  send(child, { type: 'route', way: { socketPath, podUid: 'mine' } });
  await sleep(1500);
  expect(acked()).toBe(false);
  send(child, { type: 'route', way: { socketPath, podUid: 'theirs' } });
  await vi.waitFor(() => expect(acked()).toBe(true), { timeout: 15_000 });
  send(child, { type: 'stop' });
  await once(child, 'exit');
});

it('reports at its end what it has written, as its last line', async () => {
  const child = await startWriter();
  const output = text(child.stdout);
  send(child, { type: 'stop' });
  const lines = (await output).trim().split('\n');
  const endOf = (segment: string): unknown => readSegment(directory, segment).end;
  const segments = {
    'writer-inside': endOf('writer-inside'),
    'reads-inside': endOf('reads-inside'),
  };
  expect(segments['writer-inside']).toBeDefined();
  expect(JSON.parse(lines.at(-1) ?? '')).toEqual({ type: 'written', segments });
});
