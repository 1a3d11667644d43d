import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { containerShell } from './container-shell.ts';

const bin = mkdtempSync(join(tmpdir(), 'fd-bin-'));
const asked = join(bin, 'asked');

/** A `docker` that notes what it is asked, and then does that. */
function engineThat(does: string): void {
  const script = `#!/bin/sh\necho "$@" >>${asked}\n${does}\n`;
  writeFileSync(join(bin, 'docker'), script, { mode: 0o755 });
}

beforeEach(() => {
  writeFileSync(asked, '');
  vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`);
});
afterEach(() => void vi.unstubAllEnvs());
afterEach(() => rmSync(join(bin, 'docker')));

const shell = containerShell('a-node');
const words = (): string[] => readFileSync(asked, 'utf8').split('\n').filter(Boolean);

test('a script gets its arguments, and what it said is the answer', async () => {
  engineThat('shift 2; exec "$@"');
  expect(await shell.sh('echo "$1-$2"', 'a b', 7)).toBe('a b-7');
  await expect(shell.sh('echo why >&2; exit 3')).rejects.toThrow('ended with 3: why');
});

test('how a command ended is an answer', async () => {
  engineThat('shift 2; exec "$@"');
  expect(await shell.run(['sh', '-c', 'exit 3'])).toMatchObject({ exitCode: 3 });
  expect(shell.byHand(['kill', '-CONT', '1'])).toBe('docker exec a-node kill -CONT 1');
});

test('a freezer that is busy is asked anew, and nothing else is', async () => {
  engineThat(`[ "$(wc -l <${asked})" -gt 2 ] || { echo "unable to freeze" >&2; exit 1; }`);
  await shell.suspend();
  expect(words()).toEqual(['pause a-node', 'pause a-node', 'pause a-node']);
  engineThat('echo "no such container" >&2; exit 1');
  await expect(shell.suspend()).rejects.toThrow('no such container');
  expect(words()).toHaveLength(4);
});

test('it is held and let go, ended and begun by the engine', async () => {
  engineThat('true');
  await shell.resume();
  await shell.powerOff();
  await shell.powerOn();
  expect(words()).toEqual(['unpause a-node', 'kill a-node', 'start a-node']);
});
