/** The nested form: what it means, what is refused by path, and what types refuse. */
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { UsageError } from '../core/errors.ts';
import { fieldNames, settableNames } from './written-paths.ts';
import { parseScenario } from './scenario.ts';
import { settingsUnder } from './settings.ts';
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
    ...{ fault: 'flapping-partition', flapDownMs: 70_000, flapUpMs: 500 },
    ...{ also: 'api-outage', disk: 'ack-early', cutAfterMs: 60_000, preStopS: 20 },
    ...{ kubernetes: '1.36', featureGates: { AllAlpha: true } },
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
  [{ disk: { mode: 'fenced', disk: 'fenced' } }, 'disk.disk: stands here twice: it is disk.mode a'],
  [{ timers: { grace: '10s' }, graceMs: 20_000 }, 'graceMs: stands here twice: it is timers.grace'],
  [{ graceMs: 20_000, timers: { grace: '20s' } }, 'timers.grace: stands here twice: it is graceMs'],
  [
    { fault: { kind: 'flapping-partition', down: '5s', flapDownMs: 5000 } },
    'fault.flapDownMs: stands here twice: it is fault.down as well',
  ],
])('a field is said once: %j is refused: %s', (written, message) => {
  expect(() => settingsOf(written, silent)).toThrow(`\n${message}`);
});

test('a record’s own names are read for this version, with one hint', () => {
  const hints: string[] = [];
  const old = { fault: { kind: 'flapping-partition', flapDownMs: 5000 }, rate: 10, graceMs: '10s' };
  expect(settingsOf(old, (line) => hints.push(line))).toEqual({
    ...{ fault: 'flapping-partition', flapDownMs: 5000, rate: 10, graceMs: 10_000 },
  });
  expect(hints).toEqual([
    'the next version reads the nested form only: flapDownMs is fault.down, rate is load.rate, ' +
      'graceMs is timers.grace',
  ]);
});

test('what is written of settings means them again', () => {
  const stock = parseScenario({ name: 'a', question: 'b', fault: 'none', expected: ['safe'] });
  const times = { rebootAt: 1500, flapDownMs: 1, remedyAt: 'not-ready', preStopS: 7 } as const;
  fc.assert(
    fc.property(fc.subarray([...settableNames]), (names) => {
      const of = { ...stock, ...times };
      const settings = Object.fromEntries(names.map((name) => [name, of[name]]));
      const { fault: _, remedy: __, ...rest } = settings;
      expect(settingsOf(writtenOf(withoutKinds(rest)), silent)).toEqual(withoutKinds(rest));
    }),
  );
  expect(settableNames.length).toBeGreaterThan(fieldNames.length - 10);
});

/** With a kind beside them others would be refused. */
const withoutKinds = (settings: object): object =>
  Object.fromEntries(
    Object.entries(settings).filter(([name]) => !['disk', 'also', 'selfFence'].includes(name)),
  );

test('another kind takes with it what only the one before it had', () => {
  const base = { fault: 'node-crash', reboot: false, powerLoss: 'drops', rate: 5 } as const;
  expect(settingsUnder(base, { fault: 'node-reboot' })).toEqual({
    ...{ fault: 'node-reboot', powerLoss: 'drops', rate: 5 },
  });
  expect(settingsUnder(base, { rate: 7 })).toEqual({ ...base, rate: 7 });
});
