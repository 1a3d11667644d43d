import { describe, expect, test } from 'vitest';
import { openStream } from './line-stream.ts';
import { spawnStream } from './run.ts';

describe.each([
  ['from this process', openStream],
  ['from the spawner', spawnStream],
])('%s', (_where, openStream) => {
  test('lines go both ways, and disposal ends the command without an error', async () => {
    const lines: string[] = [];
    const seen = Promise.withResolvers<void>();
    const stream = await openStream(['cat'], (line) => {
      lines.push(line);
      if (lines.length === 2) seen.resolve();
    });
    stream.write('one');
    stream.write('two');
    await seen.promise;
    await stream[Symbol.asyncDispose]();
    await stream.closed;
    expect(lines).toEqual(['one', 'two']);
  });

  test('a command that ends by itself says what it said', async () => {
    const stream = await openStream(['sh', '-c', 'echo no such loop >&2; exit 3'], () => undefined);
    await expect(stream.closed).rejects.toThrow(/ended with 3: no such loop/);
  });

  test('a command that does not read its stdin is killed', async () => {
    const stream = await openStream(['sleep', '60'], () => undefined);
    await stream[Symbol.asyncDispose]();
    await stream.closed;
  });

  test('a command that does not exist is an error at once', async () => {
    await expect(openStream(['no-such-command'], () => undefined)).rejects.toThrow(/ENOENT/);
  });
});
