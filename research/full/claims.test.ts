/**
 * Every procedure of the claims on a real kind cluster with shortened timers, each answer as expected.
 * FORCEDETACH_SEEDS=7,29 asks some only; FORCEDETACH_CLUSTER=name uses another cluster, which stays.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { readAnswers, type AnsweredClaim } from '../claims/answer.ts';
import { claims } from '../claims/list.ts';
import { machineState } from '../../test/cluster/machine-state.ts';

const givenCluster = process.env['FORCEDETACH_CLUSTER'];
const wanted = process.env['FORCEDETACH_SEEDS']?.split(',').map(Number);
const own = claims.filter(
  ({ number, procedure }) => procedure !== undefined && (wanted?.includes(number) ?? true),
);
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-claims-'));
const before = await machineState();
afterAll(() => rmSync(folder, { recursive: true }));

describe('the procedures', { timeout: 60 * 60_000 }, () => {
  test('run one after the other', async () => {
    const numbers = own.map(({ number }) => String(number));
    const cluster = givenCluster === undefined ? ['claims'] : [givenCluster, '--keep'];
    const where = ['--out', folder, '--cluster-name', ...cluster];
    const zx = $({ nothrow: true, quiet: true });
    await zx`node_modules/.bin/zx research/claims.mjs ${numbers} --short --no-runs ${where}`;
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test.each(own)('claim $number: $title', (claim) => {
    const [runs = ''] = readdirSync(folder);
    const [told] = readAnswers(join(folder, runs, `claim-${claim.number}`), [claim]);
    expect(told satisfies AnsweredClaim | undefined).toMatchObject({
      reading: { asExpected: true },
    });
  });

  test.skipIf(givenCluster !== undefined)('nothing is left behind', async () => {
    expect(await machineState()).toEqual(before);
  });
});
