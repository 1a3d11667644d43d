/** What somebody says and what would do nothing is refused, though a record of it says no more than others do. */
import { expect, test } from 'vitest';
import { recordedScenario } from '../history/migration.ts';
import { askedScenario, parseScenario } from './scenario.ts';
import type { Settings } from './settings.ts';

const about = { name: 'a', question: 'b', expected: ['safe' as const] };
const ask = (asked: Settings) => askedScenario({ fault: 'network-partition', ...asked }, about);

test.each<readonly [Settings, string]>([
  [{ remedyAt: 5000 }, 'not with remedy none\n  → at remedy.at'],
  [{ remedy: 'none', remedyAt: 'terminating' }, 'not with remedy none\n  → at remedy.at'],
  [{ cutAfterMs: 10_000 }, 'only with disk ack-early\n  → at disk.cutAfter'],
  [{ disk: 'fenced', watcherCheck: 'works' }, 'exclusive\n  → at disk.watcherCheck'],
  [{ fault: 'node-crash', flapDownMs: 70_000 }, 'flapping-partition\n  → at fault.down'],
  [{ fault: 'freeze', reboot: true }, 'only with fault node-crash\n  → at fault.reboot'],
  [{ selfFenceAfterMs: 20_000 }, 'not with selfFence off\n  → at selfFence.after'],
  [{ alsoForMs: 30_000 }, '→ at also.for'],
  [
    { forceDetach: 'off', forceDetachAfterMs: 360_000 },
    'timers.forceDetach on\n  → at timers.forc',
  ],
  [
    { fault: 'none', recreations: 2, overlapMs: 20_000 },
    'successor is waited for\n  → at watch.ove',
  ],
  [{ fault: 'none', recreations: 1, patienceMs: 90_000 }, '→ at watch.patience'],
])('%j is refused by its presence: %s', (asked, why) => {
  expect(() => ask(asked)).toThrow(why);
});

test.each<readonly [Settings, string]>([
  [{ remedy: 'drain', remedyAt: 1_200_000 }, '20m is too late: the watch is over 1m after'],
  [{ remedy: 'drain', remedyAt: 60_000 }, '→ at remedy.at'],
  [{ fault: 'node-reboot', rebootAt: 90_000 }, '→ at fault.rebootAt'],
  [{ also: 'api-outage', alsoAt: 60_000 }, '→ at also.at'],
  [{ remedy: 'out-of-service', remedyAt: 50_000, untaintAt: 10_000 }, '→ at remedy.untaintAt'],
])('%j comes after the watch: %s', (asked, why) => {
  expect(() => ask({ ...asked, horizonMs: 60_000 })).toThrow(why);
});

test('what is said in its place is taken', () => {
  expect(
    ask({
      ...{ remedy: 'out-of-service', remedyAt: 59_999, untaintAt: 'kept', horizonMs: 60_000 },
      ...{ disk: 'ack-early', cutAfterMs: 10_000, forceDetach: 'on', forceDetachAfterMs: 1000 },
    }),
  ).toMatchObject({ remedyAt: 59_999, cutAfterMs: 10_000 });
});

test('without recreations there is a successor to wait for, and a record of them says all', () => {
  const waits = { overlapMs: 1000, patienceMs: 2000 } as const;
  expect(ask({ fault: 'none', recreations: 0, ...waits })).toMatchObject(waits);
  expect(ask({ fault: 'none', recreations: 2, horizonMs: 60_000 })).toMatchObject({
    ...{ overlapMs: 20_000, patienceMs: 90_000 },
  });
  const record = parseScenario({ ...about, fault: 'none', recreations: 2, ...waits });
  expect(recordedScenario(record)).toEqual(record);
});

test('a record says every field, and one of before stays readable', () => {
  const late = { remedy: 'drain', remedyAt: 1_200_000, horizonMs: 60_000 } as const;
  const off = { forceDetach: 'off', forceDetachAfterMs: 30_000 } as const;
  const record = parseScenario({ ...about, fault: 'node-crash', ...late, ...off });
  expect(recordedScenario(record)).toEqual(record);
});
