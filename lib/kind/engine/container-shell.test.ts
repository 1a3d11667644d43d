import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { testNodeShell } from '../../../test/contract/node-shell-contract.ts';
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

/** Its nodes are held and off by files. */
const engineOfOne = `
case $1 in
  pause) touch ${bin}/held ;;
  unpause) rm ${bin}/held ;;
  kill) touch ${bin}/off ;;
  start) rm ${bin}/off ;;
  exec)
    [ ! -e ${bin}/off ] || { echo "container a-node is not running" >&2; exit 1; }
    [ ! -e ${bin}/held ] || { echo "container a-node is paused" >&2; exit 1; }
    shift 2; exec "$@" ;;
esac`;

describe('a container', () => {
  beforeEach(() => engineThat(engineOfOne));
  testNodeShell({
    has: ['outOfBand', 'byHand', 'suspend', 'resume', 'powerOff', 'powerOn'],
    now: () => shell,
  });
});

test('a person does it by the engine', () => {
  engineThat('true');
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
