import { expect, test } from 'vitest';
import { expectationFor } from '../../batch/measurements.ts';
import { type Scenario, parseScenario } from '../../scenario/scenario.ts';
import { UsageError } from '../../core/errors.ts';
import { simCapabilities } from '../../sim/model.ts';
import { refuseLacking, refuseUnmeasurable } from '../library/run-plan.ts';
import { definition, now, request } from '../../../test/support/partition-request.ts';
import { readFlags } from '../../../test/support/read-flags.ts';
import { requestOf } from './request.ts';

const onModel = { backend: 'sim', capabilities: simCapabilities } as const;
test('without flags the scenario has the experiment’s and the schema’s defaults', () => {
  const { scenario, flags } = request();
  const { name, question = '' } = definition;
  const plain = parseScenario({
    name,
    question,
    fault: { kind: 'network-partition' },
    expected: ['safe'],
    remedy: { kind: 'force-delete' },
  });
  expect(scenario).toEqual({ ...plain, ...expectationFor(plain) });
  // A living victim on an unfenced disk: a race, held against what was counted.
  expect(scenario.counted).toBeDefined();
  expect(flags.cluster).toBe('auto');
});

test('flags reach the scenario, and the expected set follows them', () => {
  const flags =
    '--disk fenced --rate max --remedy-at 400s ' +
    '--force-detach-after=30s --grace 10s --toleration 10 --trx-commit 2';
  const { scenario } = request(...flags.split(' '));
  expect(scenario).toMatchObject({
    disk: { mode: 'fenced' },
    load: { rate: 'max' },
    remedy: { at: 400_000 },
    timers: { forceDetachAfter: 30_000, grace: 10_000, toleration: 10_000 },
    database: { trxCommit: 2 },
    // A fence takes what was acknowledged before it was flushed.
    expected: ['safe', 'lost'],
  });
});

test('the replay repeats what decides the outcome and leaves out where output goes', () => {
  const made = request('--rate', 'max', '--json', '--out', '/tmp/x', '--seed', "it's", '--keep');
  const replay = made.replay('kind');
  expect(replay).toBe(
    "npx zx experiments/network-partition.mjs --rate max --cluster kind --seed $'it\\'s'",
  );
});

test.each([
  [['--rte', '5'], /unknown option '--rte'.*--rate/s],
  [['--rate', 'fast'], /operations per second/],
  [['--grace', '10 parsecs'], /duration/],
  [['--disk', 'floppy'], /unfenced, ack-early/],
  [['--trx-commit', '3'], /0, 1, 2/],
  [['--workers', '1'], /successor/],
  [['--seed', ''], /empty/],
  [['--cluster-name', '../x'], /lower-case/],
  [['--cluster-name', 'x-'], /lower-case/],
  [['--cluster-name', 'x'.repeat(31)], /at most 30/],
  [['--kubernetes', '1.38'], /1\.28 to 1\.37/],
  [['--kubernetes', 'latest'], /a patch such as/],
  [['--feature-gate', 'Breaker'], /=false/],
  [['surplus'], /too many arguments/],
])('%j is a usage error with a hint', (args, message) => {
  const attempt = (): unknown => requestOf(definition, readFlags(args), now);
  expect(attempt).toThrow(UsageError);
  expect(attempt).toThrow(message);
  try {
    attempt();
  } catch (error) {
    expect(error).toMatchObject({ code: 'BAD_FLAG', exitCode: 2, hint: expect.any(String) });
  }
});

test('who makes the volume is asked for, and the model refuses what it does not play', () => {
  const { scenario } = request('--provision', 'dynamic');
  expect(scenario.volume.provision).toBe('dynamic');
  expect(() => refuseLacking(scenario, onModel)).toThrow(/✖ dynamic: it cannot have a provisioner/);
  expect(() => request('--provision', 'dynamic', '--disk', 'shared-file')).toThrow(/no controller/);
});

test('the forced-detach wait can’t be changed in published images', () => {
  const shortened = request('--force-detach-after', '30s').scenario;
  expect(() => refuseUnmeasurable(shortened, 'published')).toThrow(/compiled in/);
  expect(() => refuseUnmeasurable(shortened, 'built')).not.toThrow();
  expect(() => refuseUnmeasurable(request().scenario, 'published')).not.toThrow();
  expect(() => request('--images', 'published', '--force-detach-after', '30s')).toThrow(UsageError);
  const ours = ['--registry', '127.0.0.1:5000', '--force-detach-after', '30s'];
  expect(() => request('--images', 'published', ...ours)).not.toThrow();
  for (const bad of ['$(id)', 'a b', 'host:5000:1', '-x', 'a/..;b']) {
    expect(() => request(`--registry=${bad}`), bad).toThrow(UsageError);
  }
  const onModel = ['--cluster', 'sim', '--images', 'published', '--force-detach-after', '30s'];
  expect(() => request(...onModel)).not.toThrow();
});

test('a version that no cluster is made of, or no registry has, is refused', () => {
  const on = (version: string): Scenario => request('--kubernetes', version).scenario;
  expect(() => refuseUnmeasurable(on('1.30'), 'built')).toThrow(/runs on the model only/);
  expect(() => refuseUnmeasurable(on('1.36.1'), 'published')).toThrow(/no pinned node image/);
  expect(() => refuseUnmeasurable(on('1.36.1'), 'built')).not.toThrow();
  expect(() => refuseUnmeasurable(on('1.36'), 'published')).not.toThrow();
});
