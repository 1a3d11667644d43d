/** A removal that can't be whole keeps what proves whose the rest is. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LeaseHold } from './lease.ts';
import type { FoundCluster } from './registry.ts';
import { awaitLateContainers, removeCluster } from './reap.ts';

/** Shows nothing; names are taken while their file is there. It notes what it is asked. */
const engine = `#!/bin/sh
cd "$FD_ENGINE"
echo "$1" "$2" "$3" >> asked
[ "$1" = create ] && [ -e "$3" ] || exit 0
echo "Conflict. The container name \\"/$3\\" is already in use by container \\"1f\\"." >&2
exit 1
`;
const token = 'a-token';
let folder: string;
let stateDir: string;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
  folder = mkdtempSync(join(tmpdir(), 'fd-remove-'));
  stateDir = mkdtempSync(join(tmpdir(), 'fd-removed-'));
  writeFileSync(join(stateDir, '.token'), token);
  writeFileSync(join(stateDir, 'kind.yaml'), 'nodes: [{ role: control-plane }]');
  writeFileSync(join(folder, 'docker'), engine, { mode: 0o755 });
  vi.stubEnv('FD_ENGINE', folder);
  vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  for (const made of [folder, stateDir]) rmSync(made, { recursive: true, force: true });
});

const found = (): FoundCluster => ({
  labels: {
    ...{ cluster: 'main', runId: 'r', configHash: 'c', index: 0, owner: undefined, keep: false },
    ...{ stateDir, token, tools: 'tools:1' },
  },
  ...{ hasNetwork: true, hasStorageNetwork: false, hasVolume: false, holdsLease: false },
  ...{ containers: [], foreign: [] },
});
const asked = (): string[] => readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');
const removals = (): string[] => asked().filter((line) => /^(network|volume) rm/.test(line));
const removed = async (): Promise<unknown> =>
  removeCluster(found(), new LeaseHold('a test')).catch((error: unknown) => error);

test('all goes where no container is under way', async () => {
  expect(await removed()).toEqual([]);
  expect(removals()).toEqual(['network rm fd-main']);
  expect(existsSync(stateDir)).toBe(false);
});

test('a name that stays taken ends the removal, and the network and the directory stay', async () => {
  writeFileSync(join(folder, 'fd-main-control-plane'), '');
  const removing = removed();
  // Its patience is over as soon as it has seen the name once.
  await vi.waitFor(() => expect(asked().join('\n')).toContain('fd-main-control-plane'), 30_000);
  vi.setSystemTime(Date.now() + 121_000);
  expect(await removing).toMatchObject({
    ...{ code: 'CONTAINER_UNDER_WAY', exitCode: 4, hint: expect.stringContaining('restart') },
    message: expect.stringMatching(/making fd-main-control-plane for 120 s.*volume fd-main/),
    command: 'npx forcedetach clean --all --cluster-name main',
  });
  expect(removals()).toEqual([]);
  expect(existsSync(stateDir)).toBe(true);
});

/** What is asked where the name of that container is free. */
const free = (name: string): string[] => [`create --name fd-main-${name}`, 'rm --force --volumes'];

test('a name that is taken is waited for, and what shows by then is removed', async () => {
  writeFileSync(join(stateDir, 'kind.yaml'), 'nodes: [{ role: control-plane }, { role: worker }]');
  writeFileSync(join(folder, 'fd-main-worker'), '');
  const removeShown = vi.fn(() => Promise.resolve(rmSync(join(folder, 'fd-main-worker'))));
  expect(await awaitLateContainers(found().labels, removeShown)).toEqual([]);
  expect(removeShown).toHaveBeenCalledOnce();
  expect(asked()).toEqual([
    ...free('lab'),
    ...free('array'),
    ...free('control-plane'),
    'create --name fd-main-worker',
    ...free('worker'),
  ]);
});

test('where there is a storage network, its containers may be under way as well', async () => {
  await awaitLateContainers(found().labels, () => Promise.resolve(), true);
  expect(asked().slice(6)).toEqual(free('control-plane-initiator'));
});

test('before kind is asked for nodes the lab and the array may be under way', async () => {
  rmSync(join(stateDir, 'kind.yaml'));
  expect(await awaitLateContainers(found().labels, () => Promise.resolve())).toEqual([]);
  expect(asked()).toEqual([...free('lab'), ...free('array')]);
});
