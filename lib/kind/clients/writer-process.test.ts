/** How a writer process ends: in good order only when it was asked to. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readSegment } from '../../history/segment-reader.ts';
import type { StartMessage, ToWriter } from './writer-process.ts';
import { mysql } from '../../mysql/database.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'forcedetach-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

type Writer = ChildProcessByStdio<Writable, Readable, null>;

const send = (writer: Writer, message: ToWriter): boolean =>
  writer.stdin.write(`${JSON.stringify(message)}\n`);

async function startWriter(): Promise<Writer> {
  const path = fileURLToPath(new URL('writer-process.ts', import.meta.url));
  const child = spawn(process.execPath, [path], { stdio: ['pipe', 'pipe', 'ignore'] });
  const start: StartMessage = {
    type: 'start',
    database: mysql.real.definedIn,
    spec: { client: 'inside', connections: 1, rate: 1, seed: 's', readEveryMs: 500 },
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
