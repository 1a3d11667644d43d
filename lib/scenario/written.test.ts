/** The nested form: what it means, what is refused by path, and what types refuse. */
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { UsageError } from '../core/errors.ts';
import {
  fieldNames,
  settableNames,
  settingsFrom,
  settingsUnder,
  valuesIn,
  withValues,
} from './fields.ts';
import { parseScenario } from './scenario.ts';
import { settingsOf, writtenOf } from './written.ts';

const silent = (): undefined => undefined;

test('a word stands for an object with only its kind, times are written as on flags', () => {
  expect(
    settingsOf(
      {
        fault: { kind: 'flapping-partition', down: '70s', up: '500ms' },
        also: 'api-outage',
        disk: { mode: 'ack-early', cutAfter: '1m' },
        workload: { preStop: '20s' },
        kubernetes: { version: '1.36', featureGates: { AllAlpha: true } },
      },
      silent,
    ),
  ).toEqual({
    fault: { kind: 'flapping-partition', down: 70_000, up: 500 },
    also: { kind: 'api-outage' },
    disk: { mode: 'ack-early', cutAfter: 60_000 },
    workload: { preStop: 20_000 },
    kubernetes: { version: '1.36', featureGates: { AllAlpha: true } },
  });
});

test.each<readonly [object, string]>([
  [{ fault: { kind: 'node-crash', down: '5s' } }, 'fault.down: it goes only with fault flapping-'],
  [{ disk: { mode: 'shared-file', flushes: 'ignored' } }, 'disk.flushes: it goes not with disk'],
  [{ fault: { kind: 'node-crsh' } }, 'fault.kind: Invalid option'],
  [{ fault: 7 }, 'fault: Invalid option'],
  [{ fault: { powerLos: 'drops' } }, 'fault.powerLos: no such key; did you mean powerLoss?'],
  [{ falt: 'freeze' }, 'falt: no such key; did you mean fault?'],
  [{ down: '5s' }, 'down: no such key; it is written fault.down'],
  [{ name: 'a' }, 'name: no such key; there are fault, also, '],
  [{ timers: { grace: 30 } }, 'timers.grace: give a time with its unit, such as 30s'],
  [{ timers: { grace: '0s' } }, 'timers.grace: '],
  [{ workload: { preStop: '500ms' } }, 'workload.preStop: '],
  [{ remedy: { at: 'soon' } }, 'remedy.at: give terminating, '],
  [{ kubernetes: { featureGates: { x: true } } }, 'kubernetes.featureGates.x: '],
  [{ 'disk.mode': 'fenced' }, 'disk.mode: no key has a dot: write disk: { mode: … }'],
  [{ fault: { 'fault.reboot': true } }, 'fault.fault.reboot: no key has a dot: write fault: { re'],
  [{ timers: { forceDetach: 'off', forceDetachAfter: '30s' } }, 'timers.forceDetachAfter: it goes'],
  [{ timers: 'off' }, 'timers: give a map of forceDetach, grace, '],
])('%j is refused: %s', (written, message) => {
  const read = (): unknown => settingsOf(written, silent);
  expect(read).toThrow(UsageError);
  expect(read).toThrow(`\n${message}`);
});

test.each<readonly [object, string]>([
  [{ disk: 'fenced', 'disk.mode': 'unfenced' }, 'disk.mode: no key has a dot'],
  [{ timers: { grace: '10s' }, graceMs: 20_000 }, 'graceMs: stands here twice: it is timers.grace'],
  [{ graceMs: 20_000, timers: { grace: '20s' } }, 'timers.grace: stands here twice: it is graceMs'],
])('a field is said once: %j is refused: %s', (written, message) => {
  expect(() => settingsOf(written, silent)).toThrow(`\n${message}`);
});

test('a record’s own names are read for this version, with one hint', () => {
  const hints: string[] = [];
  const old = {
    ...{ fault: 'flapping-partition', flapDownMs: 5000, rate: 10, graceMs: '10s' },
    ...{ terminationGraceS: 5, untaintAt: '4s' },
  };
  expect(settingsOf(old, (line) => hints.push(line))).toEqual({
    fault: { kind: 'flapping-partition', down: 5000 },
    load: { rate: 10 },
    timers: { grace: 10_000 },
    workload: { terminationGrace: 5000 },
    remedy: { untaintAt: 4000 },
  });
  expect(hints).toEqual([
    'the next version reads the nested form only: flapDownMs is fault.down, rate is load.rate, ' +
      'graceMs is timers.grace, terminationGraceS is workload.terminationGrace, untaintAt is remedy.untaintAt',
  ]);
});

test('what is written of settings means them again', () => {
  const stock = parseScenario({
    ...{ name: 'a', question: 'b', expected: ['safe'] },
    fault: { kind: 'none' },
  });
  const of = withValues(stock, [
    ['fault.rebootAt', 1500],
    ['fault.down', 1],
    ['remedy.at', 'not-ready'],
    ['workload.preStop', 7000],
  ]);
  // With a kind beside them others would be refused.
  const rest = valuesIn(of).filter(([name]) => !/\.(kind|mode|forceDetach)$/.test(name));
  fc.assert(
    fc.property(fc.subarray(rest), (values) => {
      const settings = settingsFrom(values);
      expect(settingsOf(writtenOf(settings), silent)).toEqual(settings);
    }),
  );
  expect(settableNames.length).toBeGreaterThan(fieldNames.length - 10);
});

test('another kind takes with it what only the one before it had', () => {
  const load = { load: { rate: 5 } } as const;
  const base = {
    fault: { kind: 'node-crash', reboot: false, powerLoss: 'drops' },
    ...load,
  } as const;
  expect(settingsUnder(base, { fault: { kind: 'node-reboot' } })).toEqual({
    fault: { kind: 'node-reboot', powerLoss: 'drops' },
    ...load,
  });
  expect(settingsUnder(base, { load: { rate: 7 } })).toEqual({ ...base, load: { rate: 7 } });
});
