/**
 * A page names only the conditions that its verdict needs: each is switched on the model, and where the outcome
 * stays the page does not name it.
 */
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
  if (scenario.trxCommit === 1 && scenario.flushes === 'honest') {
    return seeds.map((seed) => judge(play(scenario, seed)).safety !== 'safe');
  }
  const played = await Promise.all(seeds.slice(0, 1).map((seed) => playOnce(scenario, seed)));
  return played.map(({ verdict }) => verdict.safety !== 'safe');
}

const crash = { fault: 'node-crash', remedy: 'force-delete' } as const;
const forced = { remedy: 'force-delete' } as const;

test.each<Partial<ScenarioInput>>([
  forced,
  { ...forced, disk: 'fenced' },
  { ...forced, disk: 'exclusive' },
  { ...forced, disk: 'ack-early', cutAfterMs: 60_000 },
  { ...forced, accessMode: 'ReadWriteMany', disk: 'fenced' },
  { ...forced, filesystem: 'ext4-mmp' },
  { ...forced, forceDetach: 'off' },
  { ...forced, link: 'stalls' },
  { ...forced, trxCommit: 2 },
  { ...forced, fault: 'freeze' },
  { remedy: 'none' },
  { terminationGraceS: 0 },
  { remedy: 'out-of-service' },
  { remedy: 'delete-node' },
  { remedy: 'fence-first' },
  crash,
  { ...crash, trxCommit: 2, rate: 100, binlog: 'off' },
  { ...crash, trxCommit: 2, rate: 200, binlog: 'off', disk: 'fenced' },
  { ...crash, flushes: 'ignored', powerLoss: 'drops' },
])('%j', async (fields) => {
  const scenario = modelScenario({ ...shortTimers, ...fields });
  const base = await harms(scenario);
  const isHarmed = base.includes(true);
  const wrong: string[] = [];
  for (const { words, by } of switchedConditions(scenario, isHarmed ? 'corrupt' : 'safe', mysql)) {
    for (const { to, verdicts, decides } of by) {
      const other = { ...scenario, ...to };
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
