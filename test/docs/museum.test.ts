/** Each entry of the museum comes out as its files say, on every minor; its pages are made from them. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { UsageError } from '../../lib/core/errors.ts';
import { kubernetesDefault, kubernetesMinors } from '../../lib/core/kubernetes.ts';
import { readRuns } from '../../lib/batch/measurements.ts';
import { combined } from '../../lib/scenario/index.ts';
import {
  entries,
  museumParts,
  path,
  playsOf,
  scenarioOf,
  seeds,
  symptomsPath,
  symptomTable,
  type Entry,
} from './museum-page.ts';
import { filled, read, root } from './pages.ts';

const isSo = ({ schedule, mount, chain }: Entry, minor: string, count: number): boolean =>
  playsOf({ schedule } as Entry, minor, count).every(
    (each) =>
      schedule.predicted.some((word) => word === each.safety) &&
      (each.mountS !== undefined) === (mount !== undefined) &&
      chain.every((name) => each.chain.includes(name)),
  );

test.each(entries)('$name comes out as its files say', (entry) => {
  const { name, schedule, since, mount: [from, to] = [0, 0], result, missing } = entry;
  expect(schedule.name).toBe(name);
  if (result === 'not shown') expect(missing).toBeDefined();
  const plays = playsOf(entry, kubernetesDefault, seeds);
  expect(new Set(plays.map(({ safety }) => safety))).toEqual(new Set(schedule.predicted));
  const mounts = plays.flatMap(({ mountS = [] }) => mountS);
  expect(mounts.filter((atS) => atS < from || atS > to)).toEqual([]);
  const first = kubernetesMinors.indexOf(since);
  const so = kubernetesMinors.filter((minor) => comesSo(entry, minor));
  expect(so).toEqual(kubernetesMinors.slice(first));
});

test('an entry keeps what else it sets of Kubernetes', () => {
  const [entry] = entries;
  if (entry === undefined) throw new Error('no entry');
  const kubernetes = { admission: 'fencing-proof' } as const;
  const scenario = combined(entry.schedule.scenario, { kubernetes });
  const guarded = { ...entry, schedule: { ...entry.schedule, scenario } };
  expect(scenarioOf(guarded, kubernetesDefault).kubernetes).toMatchObject(kubernetes);
});

/** A minor that has no such setting does not come so. */
function comesSo(entry: Entry, minor: string): boolean {
  try {
    return isSo(entry, minor, seeds / 4);
  } catch (error) {
    if (error instanceof UsageError) return false;
    throw error;
  }
}

// Mend either by: npx vitest run -u --project unit test/docs
test('museum/README.md is made from the entries and the store', async () => {
  const page = filled(read(path), museumParts(readRuns()));
  await expect(page).toMatchFileSnapshot(join(root, path));
});

test('the page of trouble has a symptom of each entry', async () => {
  const page = filled(read(symptomsPath), { symptoms: symptomTable() });
  await expect(page).toMatchFileSnapshot(join(root, symptomsPath));
});
