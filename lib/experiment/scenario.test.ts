/** Scenarios: defaults are stock, faults in them are named with their path. */
import { expect, test } from 'vitest';
import { UsageError } from '../errors.ts';
import { basisOf, parseScenario, shortenedTimers } from './scenario.ts';

const minimal = { name: 'test', question: '?', fault: 'node-crash', expected: ['safe'] };

test('what is not said is stock', () => {
  const scenario = parseScenario(minimal);
  expect(shortenedTimers(scenario)).toEqual([]);
  expect(basisOf('kind', scenario)).toBe('measured');
  expect(basisOf('sim', scenario)).toBe('predicted');
});

test('any changed timer makes the basis `shortened`', () => {
  for (const timer of ['graceMs', 'tolerationMs', 'forceDetachAfterMs']) {
    const scenario = parseScenario({ ...minimal, [timer]: 12_000 });
    expect(shortenedTimers(scenario)).toEqual([timer]);
    expect(basisOf('kind', scenario)).toBe('shortened');
  }
});

const partition = { ...minimal, fault: 'network-partition' };
const shared = { ...partition, disk: 'shared-file' };

test.each([
  [{ ...minimal, rate: -1 }, 'rate'],
  [{ ...minimal, connections: 0 }, 'connections'],
  [{ ...minimal, expected: [] }, 'expected'],
  [{ ...minimal, grace: 10 }, '"grace"'],
  [{ ...minimal, link: 'stalls' }, 'link'],
  [{ ...minimal, cutAfterMs: 5000 }, 'cutAfterMs'],
  [{ ...minimal, watcherCheck: 'missing' }, 'watcherCheck'],
  [{ ...minimal, fileLocks: 'local' }, 'fileLocks'],
  [{ ...minimal, disk: 'shared-file' }, 'disk'],
  [{ ...partition, powerLoss: 'drops' }, 'powerLoss'],
  [{ ...partition, rebootAt: 1000 }, 'rebootAt'],
  [{ ...partition, flapUpMs: 1000 }, 'flapUpMs'],
  [{ ...partition, cpuShare: 0.5 }, 'cpuShare'],
  [{ ...partition, alsoAt: 1000 }, 'alsoAt'],
  [{ ...minimal, fault: 'api-outage', also: 'attacher-down' }, 'also'],
  [{ ...minimal, fault: 'node-reboot', reboot: false }, 'reboot'],
  [{ ...minimal, fault: 'none', remedy: 'drain' }, 'remedyAt'],
  [{ ...minimal, remedy: 'force-delete', remedyAt: 'pod-gone' }, 'remedyAt'],
  [{ ...minimal, remedy: 'force-delete', untaintAt: 'heal' }, 'untaintAt'],
  [{ ...minimal, remedy: 'strip-pod-finalizer' }, 'remedy'],
  [{ ...shared, remedy: 'fence-first' }, 'remedy'],
  [{ ...shared, remedy: 'delete-attachment' }, 'remedy'],
  [{ ...shared, link: 'errors' }, 'link'],
  [{ ...shared, filesystem: 'xfs' }, 'filesystem'],
  [{ ...shared, flushes: 'ignored' }, 'flushes'],
  [{ ...shared, keepWrites: true }, 'keepWrites'],
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
