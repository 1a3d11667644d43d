/** Scenarios: defaults are stock, faults in them are named with their path. */
import { expect, test } from 'vitest';
import { UsageError } from '../errors.ts';
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
