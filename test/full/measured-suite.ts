/**
 * Cases on a real kind cluster, each held against its expected verdict; with FORCEDETACH_NOTE=1 what
 * was measured goes to a page. FORCEDETACH_CASES=name,name runs some only; FORCEDETACH_CLUSTER=name uses another cluster,
 * which stays.
 */
import { afterAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { isNoting } from '../support/noting.ts';
import { machineState } from '../cluster/machine-state.ts';
import type { MeasuredCase } from './measured-case.ts';
import type { MeasuredPage } from './measured-page.ts';
import { expectCase, runCase } from './mode-run.ts';

export interface MeasuredSuite {
  /** Of the cluster that the suite makes and removes. */
  readonly clusterName: string;
  readonly cases: readonly MeasuredCase[];
  readonly page: MeasuredPage;
  /** What a case must show beside its verdict. */
  readonly alsoExpect?: (one: MeasuredCase, verdict: Verdict) => void;
}

const runMs = 15 * 60_000;
/** A cold image build may come first. */
const firstRunMs = 40 * 60_000;

/** Defines the tests; to be awaited, since it looks at the machine first. */
export async function measuredSuite({
  clusterName: ownCluster,
  cases,
  page,
  alsoExpect,
}: MeasuredSuite): Promise<void> {
  const givenCluster = process.env['FORCEDETACH_CLUSTER'];
  const clusterName = givenCluster ?? ownCluster;
  const wanted = process.env['FORCEDETACH_CASES']?.split(',');
  const chosen = cases.filter(({ name }) => wanted?.includes(name) ?? true);
  const before = await machineState();
  afterAll(() => {
    if (isNoting) page.write();
  });

  test.each(chosen)('$name', { timeout: firstRunMs }, async (one) => {
    const result = await runCase(one, clusterName);
    if (isNoting && result.verdict !== undefined) page.note(one, result.folder);
    // On a line of its own: the arguments of a call that is optional may never be evaluated.
    const verdict = expectCase(one, result);
    alsoExpect?.(one, verdict);
  });

  test.skipIf(givenCluster !== undefined)(
    'nothing is left behind',
    { timeout: runMs },
    async () => {
      const zx = $({ quiet: true });
      await zx`node_modules/.bin/zx experiments/clean.mjs --all --cluster-name ${clusterName}`;
      expect(await machineState()).toEqual(before);
    },
  );
}
