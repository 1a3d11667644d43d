import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { ClusterLabels } from './labels.ts';
import { awaitLateContainers } from './remove-cluster.ts';

/** An engine whose names are taken until their file is gone; it notes what it is asked. */
const engine = `#!/bin/sh
cd "$FD_ENGINE"
echo "$1" "$2" "$3" >> asked
[ "$1" = create ] || exit 0
[ -e "$3" ] || exit 0
echo "Conflict. The container name \\"/$3\\" is already in use by container \\"1f\\"." >&2
exit 1
`;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'fd-late-'));
  writeFileSync(join(folder, 'docker'), engine, { mode: 0o755 });
  vi.stubEnv('FD_ENGINE', folder);
  vi.stubEnv('PATH', `${folder}:${process.env['PATH'] ?? ''}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const labels = (): ClusterLabels => ({
  ...{ cluster: 'main', runId: 'r', configHash: 'c', index: 0, owner: undefined, keep: false },
  ...{ stateDir: folder, token: 't', tools: 'tools:1' },
});
/** What is asked where the name of that container is free. */
const free = (name: string): string[] => [`create --name fd-main-${name}`, 'rm --force --volumes'];
const asked = (): string[] => readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');

test('a name that is taken is waited for, and what shows by then is removed', async () => {
  writeFileSync(join(folder, 'kind.yaml'), 'nodes: [{ role: control-plane }, { role: worker }]');
  writeFileSync(join(folder, 'fd-main-worker'), '');
  const removeShown = vi.fn(() => Promise.resolve(rmSync(join(folder, 'fd-main-worker'))));
  expect(await awaitLateContainers(labels(), removeShown)).toEqual([]);
  expect(removeShown).toHaveBeenCalledOnce();
  expect(asked()).toEqual([
    ...free('lab'),
    ...free('array'),
    ...free('control-plane'),
    'create --name fd-main-worker',
    ...free('worker'),
  ]);
});

test('before kind is asked for nodes the lab and the array may be under way', async () => {
  expect(await awaitLateContainers(labels(), () => Promise.resolve())).toEqual([]);
  expect(asked()).toEqual([...free('lab'), ...free('array')]);
});
