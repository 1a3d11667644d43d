import { expect, test } from 'vitest';
import { kubernetesReleases } from '../core/kubernetes.ts';
import {
  judge,
  judgeBuildTools,
  judgeInitiator,
  judgeMachine,
  judgeQemu,
  lacksSysResource,
  type MachineFacts,
} from './preflight.ts';

const gibibyte = 1024 ** 3;
const engine = {
  version: '28.2.2',
  cgroupVersion: '2',
  rootDir: '/var/lib/docker',
  freeBytes: 50 * gibibyte,
};
const good: MachineFacts = {
  engine,
  availableMemoryBytes: 16 * gibibyte,
  loopControl: true,
  fuse: true,
  packagesElsewhere: undefined,
  otherNodes: 0,
  inotifyInstances: 128,
  inotifyWatches: 65_536,
};
const failedOf = (facts: MachineFacts): string[] =>
  judgeMachine(facts).flatMap(({ state, code }) => (state === 'failed' ? [code] : []));

test('a good machine passes', () => {
  expect(judgeMachine(good).map(({ state }) => state)).not.toContain('failed');
});

test('each thing that is missing is named, with a command that mends it', () => {
  expect(failedOf({ ...good, engine: { missing: 'Cannot connect' } })).toEqual(['ENGINE_MISSING']);
  expect(failedOf({ ...good, engine: { ...engine, freeBytes: gibibyte } })).toEqual(['DISK_SPACE']);
  expect(failedOf({ ...good, availableMemoryBytes: gibibyte })).toEqual(['MEMORY']);
  expect(failedOf({ ...good, loopControl: false })).toEqual(['LOOP_DEVICES']);
  expect(failedOf({ ...good, fuse: false })).toEqual(['FUSE']);
  expect(failedOf({ ...good, packagesElsewhere: '/b' })).toEqual(['PACKAGES_ELSEWHERE']);
  expect(failedOf({ ...good, inotifyInstances: 16 })).toEqual(['INOTIFY']);
  expect(failedOf({ ...good, otherNodes: 3 })).toEqual([]);
  expect(failedOf({ ...good, otherNodes: 6 })).toEqual(['INOTIFY']);
  const worst = { ...good, engine: { missing: 'x' }, loopControl: false, inotifyWatches: 1 };
  for (const result of judgeMachine(worst)) {
    if (result.state === 'failed') expect(result.mend).toMatch(/\w/);
  }
});

test.each(['1', '2'])(
  'control groups of version %s run every Kubernetes that clusters are made of',
  (cgroupVersion) => {
    const { found = '' } =
      judgeMachine({ ...good, engine: { ...engine, cgroupVersion } }).find(
        ({ code }) => code === 'CGROUPS',
      ) ?? {};
    for (const minor of [
      Object.keys(kubernetesReleases)[0],
      Object.keys(kubernetesReleases).at(-1),
    ]) {
      expect(found).toContain(minor);
    }
  },
);

test('an engine elsewhere leaves its disk unknown, which stops nobody', () => {
  const results = judgeMachine({ ...good, engine: { ...engine, freeBytes: undefined } });
  expect(results.find(({ code }) => code === 'DISK_SPACE')?.state).toBe('unknown');
});

const missing = { ok: false, found: 'not found', mend: 'install it' };

test('build tools are needed only where images are built', () => {
  expect(judgeBuildTools({})).toEqual([]);
  expect(judgeBuildTools({ mmdebstrap: missing })).toMatchObject([
    { code: 'BUILD_TOOL_MISSING', state: 'failed', mend: 'install it' },
  ]);
});

test('a cluster does without qemu', () => {
  const mend: unknown = expect.stringContaining('qemu');
  expect(judgeQemu(missing)).toMatchObject({ state: 'optional', mend });
});

test('what could not be probed is unknown, never ok', () => {
  const found = 'the tools image is not built yet';
  const loop = judge('SCRATCH_LOOP', 'a loop device', { skipped: found });
  expect(loop).toMatchObject({ state: 'unknown', found });
});

test('the missing capability is read from a bounding set', () => {
  expect(lacksSysResource('CapBnd:\t000001fffeffffff')).toBe(true);
  expect(lacksSysResource('CapBnd:\t000001ffffffffff')).toBe(false);
});

test('an initiator that is not there yet keeps no other cluster from running', () => {
  expect(judgeInitiator(undefined)).toMatchObject({ state: 'optional', mend: 'npm run images' });
  expect(judgeInitiator('forcedetach/initiator:1').state).toBe('ok');
});
