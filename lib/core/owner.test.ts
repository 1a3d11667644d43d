import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  currentOwner,
  decodeOwner,
  encodeOwner,
  machineProcesses,
  ownerState,
  startTicksOf,
  type ProcessTable,
} from './owner.ts';

const processes: ProcessTable = {
  bootId: () => 'boot-1',
  pidNamespace: () => 'pid:[1]',
  host: () => 'host-1',
  startTicks: (pid) => (pid === 42 ? '1000' : undefined),
};
const owner = {
  ...{ pid: 42, startTicks: '1000', bootId: 'boot-1' },
  ...{ pidNamespace: 'pid:[1]', host: 'host-1' },
};

test('this process owns what it makes and is alive', () => {
  expect(ownerState(currentOwner())).toBe('alive');
});

test('a process that is gone is dead, also when its number was given to another', () => {
  expect(ownerState(owner, processes)).toBe('alive');
  expect(ownerState({ ...owner, pid: 43 }, processes)).toBe('dead');
  expect(ownerState({ ...owner, startTicks: '999' }, processes)).toBe('dead');
});

test('after a reboot every owner is dead', () => {
  expect(ownerState({ ...owner, bootId: 'boot-0' }, processes)).toBe('dead');
});

test('nothing is said about another process namespace', () => {
  expect(ownerState({ ...owner, pidNamespace: 'pid:[2]' }, processes)).toBe('unknown');
});

test('nothing is said about another host, whatever else agrees', () => {
  const elsewhere = { ...owner, host: 'host-2' };
  for (const other of [elsewhere, { ...elsewhere, bootId: 'boot-2' }, { ...elsewhere, pid: 43 }]) {
    expect(ownerState(other, processes)).toBe('unknown');
  }
});

test('a host keeps its name, and another user or home has another one', () => {
  const home = mkdtempSync(join(tmpdir(), 'fd-owner-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const mine = machineProcesses.host();
  expect(machineProcesses.host()).toBe(mine);
  vi.stubEnv('XDG_STATE_HOME', home);
  const theirs = machineProcesses.host();
  expect(theirs).not.toBe(mine);
  expect(machineProcesses.host()).toBe(theirs);
  vi.unstubAllEnvs();
});

test('a label without its host says nothing', () => {
  expect(decodeOwner('42 1000 boot-1 pid:[1]')).toBeUndefined();
});

test('a label holds the whole owner', () => {
  expect(decodeOwner(encodeOwner(owner))).toEqual(owner);
  expect(decodeOwner('')).toBeUndefined();
  expect(decodeOwner('42 1000')).toBeUndefined();
});

test('the start of a process is read past any name, and a zombie has none', () => {
  const fields = (state: string): string =>
    `7 (a) b (c)) ${state} 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 100`;
  expect(startTicksOf(fields('S'))).toBe('12345');
  expect(startTicksOf(fields('Z'))).toBeUndefined();
});
