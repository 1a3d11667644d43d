/** Scenarios: defaults are stock, faults in them are named with their path. */
import { expect, test } from 'vitest';
import { diskModeDeclarations } from '../disk-modes/index.ts';
import { UsageError } from '../errors.ts';
import { faultDeclarations } from '../faults/kinds/index.ts';
import type { KindDeclaration } from '../fields/of-kinds.ts';
import { remedyDeclarations } from '../remedies/kinds/index.ts';
import { fieldOf } from './written-paths.ts';
import { basisOf, parseScenario, shortenedTimers } from './scenario.ts';

const minimal = { name: 'test', question: '?', fault: 'node-crash', expected: ['safe'] };

test('what is not said is stock', () => {
  const scenario = parseScenario(minimal);
  expect(shortenedTimers(scenario)).toEqual([]);
  expect(basisOf({ isModel: false }, scenario)).toBe('measured');
  expect(basisOf({ isModel: true }, scenario)).toBe('predicted');
});

test('any changed timer makes the basis `shortened`', () => {
  for (const timer of ['graceMs', 'tolerationMs', 'forceDetachAfterMs']) {
    const scenario = parseScenario({ ...minimal, [timer]: 12_000 });
    expect(shortenedTimers(scenario)).toEqual([timer]);
    expect(basisOf({ isModel: false }, scenario)).toBe('shortened');
  }
});

const partition = { ...minimal, fault: 'network-partition' };
const shared = { ...partition, disk: 'shared-file' };

test.each([
  [{ ...minimal, rate: -1 }, 'load.rate'],
  [{ ...minimal, connections: 0 }, 'load.connections'],
  [{ ...minimal, expected: [] }, 'expected'],
  [{ ...minimal, grace: 10 }, '"grace"'],
  [{ ...minimal, link: 'stalls' }, 'fault.link'],
  [{ ...minimal, cutAfterMs: 5000 }, 'disk.cutAfter'],
  [{ ...minimal, watcherCheck: 'missing' }, 'disk.watcherCheck'],
  [{ ...minimal, fileLocks: 'local' }, 'disk.fileLocks'],
  [{ ...minimal, disk: 'shared-file' }, 'disk.mode'],
  [{ ...partition, powerLoss: 'drops' }, 'fault.powerLoss'],
  [{ ...partition, rebootAt: 1000 }, 'fault.rebootAt'],
  [{ ...partition, flapUpMs: 1000 }, 'fault.up'],
  [{ ...partition, cpuShare: 0.5 }, 'fault.cpuShare'],
  [{ ...partition, alsoAt: 1000 }, 'also.at'],
  [{ ...minimal, fault: 'api-outage', also: 'attacher-down' }, 'also.kind'],
  [{ ...minimal, fault: 'node-reboot', reboot: false }, 'fault.reboot'],
  [{ ...minimal, fault: 'none', remedy: 'drain' }, 'remedy.at'],
  [{ ...minimal, remedy: 'force-delete', remedyAt: 'pod-gone' }, 'remedy.at'],
  [{ ...minimal, remedy: 'force-delete', untaintAt: 'heal' }, 'remedy.untaintAt'],
  [{ ...minimal, remedy: 'strip-pod-finalizer' }, 'remedy.kind'],
  [{ ...shared, remedy: 'fence-first' }, 'remedy.kind'],
  [{ ...shared, remedy: 'delete-attachment' }, 'remedy.kind'],
  [{ ...shared, link: 'errors' }, 'fault.link'],
  [{ ...shared, filesystem: 'xfs' }, 'volume.filesystem'],
  [{ ...shared, flushes: 'ignored' }, 'disk.flushes'],
  [{ ...shared, keepWrites: true }, 'disk.keepWrites'],
])('a bad field is named: %o', (input, path) => {
  const parse = (): unknown => parseScenario(input);
  expect(parse).toThrow(UsageError);
  expect(parse).toThrow(new RegExp(`(at|key:) ${path}`));
});

test.each([
  { ...partition, link: 'stalls', disk: 'exclusive', watcherCheck: 'missing' },
  { ...partition, disk: 'ack-early', cutAfterMs: 5000 },
  { ...partition, fault: 'none', remedy: 'out-of-service', remedyAt: 0, untaintAt: 5000 },
  { ...partition, remedy: 'strip-pod-finalizer', podFinalizer: true },
  { ...partition, remedy: 'delete-attachment', remedyAt: 'pod-gone', terminationGraceS: 0 },
  { ...shared, fileLocks: 'local', accessMode: 'ReadWriteMany' },
  { ...minimal, flushes: 'ignored', powerLoss: 'tears', keepWrites: true },
])('what fits together is accepted: %o', (input) => {
  expect(() => parseScenario(input)).not.toThrow();
});

const kinds: readonly KindDeclaration[] = [
  ...faultDeclarations,
  ...remedyDeclarations,
  ...diskModeDeclarations,
];

test('what a kind asks of fields is asked of fields that there are', () => {
  const asked = kinds.flatMap(({ keeps, changes }) => Object.keys({ ...keeps, ...changes }));
  expect(asked.length).toBeGreaterThan(4);
  expect(asked.filter((name) => fieldOf(name) === undefined)).toEqual([]);
});

test.each([
  [{ fault: 'node-reboot', reboot: false }, /not with fault node-reboot: it boots/],
  [{ remedy: 'strip-pod-finalizer' }, /needs a pod that has one: podFinalizer/],
  [
    { fault: 'network-partition', disk: 'shared-file', filesystem: 'xfs' },
    /not with disk shared-file: a directory has no file system of its own/,
  ],
  [
    { fault: 'freeze', disk: 'shared-file', remedy: 'fence-first' },
    /it has no VolumeAttachment and no path that could be cut/,
  ],
])('%j is refused', (said, why) => {
  expect(() => parseScenario({ ...minimal, ...said })).toThrow(why);
});
