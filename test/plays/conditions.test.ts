/**
 * A page names only the conditions that its verdict needs: each is switched on the model, and where the outcome
 * stays the page does not name it.
 */
import { combined } from '../../lib/scenario/index.ts';
import { expect, test } from 'vitest';
import { contradictions } from '../../lib/scenario/contradictions.ts';
import type { Scenario, ScenarioInput } from '../../lib/scenario/scenario.ts';
import { switchedConditions } from '../../lib/report/conditions.ts';
import { judge } from '../../lib/sweep/judge.ts';
import { play } from '../../lib/sweep/play.ts';
import { playOnce } from '../property/play-once.ts';
import { modelScenario, shortTimers } from '../support/model-run.ts';
import { mysql } from '../../lib/mysql/database.ts';

const seeds = ['1', '2', '3', '4', '5'];

/** Whether each of the seeds ends with damage or exposure. */
async function harms(scenario: Scenario): Promise<boolean[]> {
  // The sweep's player knows of no durability: whole runs do.
  if (scenario.database.trxCommit === 1 && scenario.disk.flushes === 'honest') {
    return seeds.map((seed) => judge(play(scenario, seed)).safety !== 'safe');
  }
  const played = await Promise.all(seeds.slice(0, 1).map((seed) => playOnce(scenario, seed)));
  return played.map(({ verdict }) => verdict.safety !== 'safe');
}

const crash = { fault: { kind: 'node-crash' }, remedy: { kind: 'force-delete' } } as const;
const forced = { remedy: { kind: 'force-delete' } } as const;

test.each<Partial<ScenarioInput>>([
  forced,
  { ...forced, disk: { mode: 'fenced' } },
  { ...forced, disk: { mode: 'exclusive' } },
  { ...forced, disk: { mode: 'ack-early', cutAfter: 60_000 } },
  { ...forced, volume: { accessMode: 'ReadWriteMany' }, disk: { mode: 'fenced' } },
  { ...forced, volume: { filesystem: 'ext4-mmp' } },
  { ...forced, timers: { forceDetach: 'off' } },
  { ...forced, fault: { link: 'stalls' } },
  { ...forced, database: { trxCommit: 2 } },
  { ...forced, fault: { kind: 'freeze' } },
  { remedy: { kind: 'none' } },
  { workload: { terminationGrace: 0 } },
  { remedy: { kind: 'out-of-service' } },
  { remedy: { kind: 'delete-node' } },
  { remedy: { kind: 'fence-first' } },
  crash,
  { ...crash, database: { trxCommit: 2, binlog: 'off' }, load: { rate: 100 } },
  {
    ...crash,
    database: { trxCommit: 2, binlog: 'off' },
    load: { rate: 200 },
    disk: { mode: 'fenced' },
  },
  { ...crash, disk: { flushes: 'ignored' }, fault: { ...crash.fault, powerLoss: 'drops' } },
])('%j', async (fields) => {
  const scenario = modelScenario(combined(shortTimers, fields));
  const base = await harms(scenario);
  const isHarmed = base.includes(true);
  const wrong: string[] = [];
  for (const { words, by } of switchedConditions(scenario, isHarmed ? 'corrupt' : 'safe', mysql)) {
    for (const { to, verdicts, decides } of by) {
      const other = combined(scenario, to);
      // No run has fields of another kind than its own.
      if (contradictions(other).length > 0) continue;
      // A race may spare each of a few seeds.
      const isRace = verdicts.includes('safe') && verdicts.length > 1;
      if (isRace && isHarmed) continue;
      const switched = await harms(other);
      // A safe run needs what keeps even one seed from harm.
      const changes = isHarmed ? !switched.includes(true) : switched.includes(true);
      if (changes !== decides) wrong.push(`${words}: ${JSON.stringify(to)} ${switched.join()}`);
    }
  }
  expect({ wrong, base }).toEqual({ wrong: [], base });
});
