import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { holderOf, takeFreeLock, tryLock } from './owner.ts';

let home = '';
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'fd-lock-'));
  vi.stubEnv('XDG_STATE_HOME', home);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true });
});

const refusal = (other: string): Error => new Error(`in use by ${other}`);
const folder = (): string => join(home, 'forcedetach', '.locks');

test('one has it at a time, in one process too, and the next gets it once it is given back', async () => {
  const first = await takeFreeLock('a', 'the first', refusal);
  expect(tryLock('a', 'the second')).toBeUndefined();
  await expect(takeFreeLock('a', 'the second', refusal)).rejects.toThrow('in use by the first');
  expect(tryLock('b', 'the second')).toBeDefined();
  await first.release();
  await first.release();
  expect(tryLock('a', 'the second')).toBeDefined();
});

/** A process of its own that has the lock. */
async function holding(name: string): Promise<{ readonly kill: (signal: NodeJS.Signals) => void }> {
  const lock = fileURLToPath(new URL('owner.ts', import.meta.url));
  const program = `import { tryLock } from ${JSON.stringify(lock)};
    const lock = tryLock(${JSON.stringify(name)}, 'process ' + process.pid);
    if (lock === undefined) process.exit(1);
    // One that nothing refers to is collected, and free again.
    console.log('held'); setInterval(() => lock, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
  await once(child.stdout, 'data');
  return { kill: (signal) => void child.kill(signal) };
}

test('a holder that stands still keeps its own name, and nobody waits', async () => {
  const holder = await holding('stopped');
  try {
    holder.kill('SIGSTOP');
    const beganMs = performance.now();
    expect(tryLock('stopped', 'me')).toBeUndefined();
    expect(holderOf('stopped')).toMatch(/^process \d+$/);
    expect(tryLock('other', 'me')).toBeDefined();
    expect(performance.now() - beganMs).toBeLessThan(1000);
  } finally {
    holder.kill('SIGKILL');
  }
  await expect.poll(() => tryLock('stopped', 'me') !== undefined).toBe(true);
});

test('what a holder says is read in bounds, and shown as letters', async () => {
  const lock = tryLock('loud', `\u001b]0;title\u0007${'x'.repeat(10_000)}`);
  expect(holderOf('loud')).toMatch(/^\?\]0;title\?x{180,200}$/);
  await lock?.release();
  expect(holderOf('loud')).toBe('another process');
});

test('nobody else may look into the folder, also where it was there before', () => {
  mkdirSync(folder(), { recursive: true, mode: 0o777 });
  expect(tryLock('a', 'me')).toBeDefined();
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
});

test('a name cannot lead out of the folder', () => {
  expect(tryLock('../../escaped', 'me')).toBeDefined();
  expect(statSync(join(folder(), '..%2F..%2Fescaped.lock')).isFile()).toBe(true);
});

test.each([
  ['a link', (path: string): void => symlinkSync(tmpdir(), path)],
  ['a file', (path: string): void => writeFileSync(path, '')],
])('%s in the place of the folder is refused', (_, make) => {
  mkdirSync(join(home, 'forcedetach'));
  make(folder());
  expect(() => tryLock('a', 'me')).toThrow(expect.objectContaining({ code: 'STATE_FOLDER' }));
});
