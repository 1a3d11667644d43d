/** What somebody says and what would do nothing is refused, though a record of it says no more than others do. */
import { expect, test } from 'vitest';
import { recordedScenario } from '../history/migration.ts';
import { askedScenario, parseScenario } from './scenario.ts';
import { combined, type Settings } from './fields.ts';

const about = { name: 'a', question: 'b', expected: ['safe' as const] };
const ask = (asked: Settings) =>
  askedScenario(combined<Settings>({ fault: { kind: 'network-partition' } }, asked), about);

test.each<readonly [Settings, string]>([
  [{ remedy: { at: 5000 } }, 'not with remedy none\n  → at remedy.at'],
  [{ remedy: { kind: 'none', at: 'terminating' } }, 'not with remedy none\n  → at remedy.at'],
  [{ disk: { cutAfter: 10_000 } }, 'only with disk ack-early\n  → at disk.cutAfter'],
  [{ disk: { mode: 'fenced', watcherCheck: 'works' } }, 'exclusive\n  → at disk.watcherCheck'],
  [{ fault: { kind: 'node-crash', down: 70_000 } }, 'flapping-partition\n  → at fault.down'],
  [{ fault: { kind: 'freeze', reboot: true } }, 'only with fault node-crash\n  → at fault.reboot'],
  [{ selfFence: { after: 20_000 } }, 'not with selfFence off\n  → at selfFence.after'],
  [{ also: { for: 30_000 } }, '→ at also.for'],
  [{ also: { kind: 'freeze', at: 'pod-gone' } }, 'no successor yet'],
  [{ also: { kind: 'node-crash', on: 'victim' } }, '→ at also.on'],
  [{ also: { kind: 'api-outage', on: 'victim' } }, '→ at also.on'],
  [
    { timers: { forceDetach: 'off', forceDetachAfter: 360_000 } },
    'timers.forceDetach on\n  → at timers.forc',
  ],
  [
    { fault: { kind: 'none', recreations: 2 }, watch: { overlap: 20_000 } },
    'successor is waited for\n  → at watch.ove',
  ],
  [{ fault: { kind: 'none', recreations: 1 }, watch: { patience: 90_000 } }, '→ at watch.patience'],
])('%j is refused by its presence: %s', (asked, why) => {
  expect(() => ask(asked)).toThrow(why);
});

test.each<readonly [Settings, string]>([
  [{ remedy: { kind: 'drain', at: 1_200_000 } }, '20m is too late: the watch is over 1m after'],
  [{ remedy: { kind: 'drain', at: 60_000 } }, '→ at remedy.at'],
  [{ fault: { kind: 'node-reboot', rebootAt: 90_000 } }, '→ at fault.rebootAt'],
  [{ also: { kind: 'api-outage', at: 60_000 } }, '→ at also.at'],
  [{ remedy: { kind: 'out-of-service', at: 50_000, untaintAt: 10_000 } }, '→ at remedy.untaintAt'],
])('%j comes after the watch: %s', (asked, why) => {
  expect(() => ask({ ...asked, watch: { horizon: 60_000 } })).toThrow(why);
});

test('what is said in its place is taken', () => {
  expect(
    ask({
      remedy: { kind: 'out-of-service', at: 59_999, untaintAt: 'kept' },
      watch: { horizon: 60_000 },
      disk: { mode: 'ack-early', cutAfter: 10_000 },
      timers: { forceDetach: 'on', forceDetachAfter: 1000 },
    }),
  ).toMatchObject({ remedy: { at: 59_999 }, disk: { cutAfter: 10_000 } });
});

test('without recreations there is a successor to wait for, and a record of them says all', () => {
  const waits = { watch: { overlap: 1000, patience: 2000 } } as const;
  expect(ask({ fault: { kind: 'none', recreations: 0 }, ...waits })).toMatchObject(waits);
  expect(
    ask({ fault: { kind: 'none', recreations: 2 }, watch: { horizon: 60_000 } }),
  ).toMatchObject({
    watch: { overlap: 20_000, patience: 90_000 },
  });
  const record = parseScenario({ ...about, fault: { kind: 'none', recreations: 2 }, ...waits });
  expect(recordedScenario(record)).toEqual(record);
});

test('a record says every field, and one of before stays readable', () => {
  const late = { remedy: { kind: 'drain', at: 1_200_000 }, watch: { horizon: 60_000 } } as const;
  const off = { timers: { forceDetach: 'off', forceDetachAfter: 30_000 } } as const;
  const record = parseScenario({ ...about, fault: { kind: 'node-crash' }, ...late, ...off });
  expect(recordedScenario(record)).toEqual(record);
});
