/** A scenario chooses its kind of database, and says no more than it must; what does not go with a kind is refused. */
import { expect, test } from 'vitest';
import { parseScenario } from '../scenario.ts';
import { combined, type ScenarioInput, type Settings, type WrittenScenario } from '../fields.ts';
import { settingsOf } from '../written.ts';

const silent = (): undefined => undefined;
const about = { name: 'a', question: 'b', fault: { kind: 'freeze' }, expected: ['safe'] } as const;
const of = (written: WrittenScenario) =>
  parseScenario({ ...about, ...settingsOf(written, silent) });

test('one server is what a record means that names no database', () => {
  const stock = parseScenario(about);
  expect(stock.database.kind).toBe('single-server');
  expect(of({ database: { kind: 'single-server', trxCommit: 1 } })).toEqual(stock);
  expect(of({ database: 'single-server' })).toEqual(stock);
  expect(settingsOf({ trxCommit: 2 }, silent)).toEqual({ database: { trxCommit: 2 } });
});

test.each<readonly [Settings, string]>([
  [
    { fault: { kind: 'kubelet-stall' } },
    'Allowed choices are network-partition, node-crash, freeze.',
  ],
  [{ remedy: { kind: 'force-delete' } }, 'at remedy.kind'],
  [{ also: { kind: 'api-outage' } }, 'at also.kind'],
  [{ disk: { mode: 'fenced' } }, 'at disk.mode'],
  [{ fault: { kind: 'network-partition', link: 'stalls' } }, 'at fault.link'],
  [{ workload: { kind: 'deployment-recreate' } }, 'at workload.kind'],
  [{ database: { binlog: 'off' } }, 'at database.binlog'],
  [{ fault: { kind: 'node-crash', reboot: false } }, 'at fault.reboot'],
])('a group is refused with %j', (said, why) => {
  const scenario = combined<ScenarioInput>(about, said);
  expect(() => parseScenario(scenario)).not.toThrow();
  expect(() =>
    parseScenario(combined(scenario, { database: { kind: 'group-replication' } })),
  ).toThrow(why);
});
