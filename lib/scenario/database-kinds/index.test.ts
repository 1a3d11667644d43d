/** A scenario chooses its kind of database, and says no more than it must; what does not go with a kind is refused. */
import { expect, test } from 'vitest';
import { parseScenario } from '../scenario.ts';
import type { WrittenScenario } from '../written-form.ts';
import { settingsOf } from '../written.ts';

const silent = (): undefined => undefined;
const about = { name: 'a', question: 'b', fault: 'freeze', expected: ['safe'] } as const;
const of = (written: WrittenScenario) =>
  parseScenario({ ...about, ...settingsOf(written, silent) });

test('one server is what a record means that names no database, in the same bytes', () => {
  const bytes = JSON.stringify(parseScenario(about));
  expect(bytes).not.toMatch(/"(database|consistency|exitAction)"/);
  const said = { database: { kind: 'single-server', trxCommit: 1 } } as const;
  expect(JSON.stringify(of(said))).toBe(bytes);
  expect(JSON.stringify(of({ database: 'single-server' }))).toBe(bytes);
  // As before there was a kind.
  expect(JSON.stringify(of({ database: { binlog: 'on' } }))).toBe(bytes);
  expect(settingsOf({ trxCommit: 2 }, silent)).toEqual({ trxCommit: 2 });
});

test.each<readonly [object, string]>([
  [{ fault: 'kubelet-stall' }, 'Allowed choices are network-partition, node-crash, freeze.'],
  [{ remedy: 'force-delete' }, 'at remedy.kind'],
  [{ also: 'api-outage' }, 'at also.kind'],
  [{ disk: 'fenced' }, 'at disk.mode'],
  [{ link: 'stalls', fault: 'network-partition' }, 'at fault.link'],
  [{ workload: 'deployment-recreate' }, 'at workload.kind'],
  [{ binlog: 'off' }, 'at database.binlog'],
  [{ reboot: false, fault: 'node-crash' }, 'at fault.reboot'],
])('a group is refused with %j', (said, why) => {
  const scenario = { ...about, ...said };
  expect(() => parseScenario(scenario)).not.toThrow();
  expect(() => parseScenario({ ...scenario, database: 'group-replication' })).toThrow(why);
});
