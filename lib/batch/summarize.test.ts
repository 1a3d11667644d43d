import { expect, test } from 'vitest';
import { cellLosses } from '../report/loss-words.ts';
import { batchSchema, type Batch, type BatchCell } from './batch.ts';
import {
  controlOutcomes,
  exampleOutcome,
  examplePlan,
  type ExampleOptions,
} from '../../test/support/example-batch.ts';
import type { BatchTrial } from './batch-plan.ts';
import type { Attempt, RunOutcome } from './results.ts';
import { batchExitCode, summarizeBatch } from './summarize.ts';

const lost = exampleOutcome({ verdict: 'lost', lost: 9, noticed: 'silent', exposureMs: 5000 });

function batchOf(
  answer: (trial: BatchTrial) => RunOutcome | undefined,
  options: ExampleOptions = {},
  change: (attempt: Attempt) => Partial<Attempt> = () => ({}),
): Batch {
  const plan = examplePlan(options);
  const attempts = plan.trials.map((trial, index): Attempt => {
    const outcome = controlOutcomes[trial.id] ?? answer(trial);
    const attempt: Attempt = {
      type: 'attempt',
      trial: trial.id,
      attempt: 1,
      event: trial.id,
      slot: 'one',
      alone: trial.alone,
      folder: `cells/${trial.id}`,
      startedAt: new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString(),
      durationMs: 60_000,
      ...(outcome === undefined ? { error: 'broken' } : { outcome }),
    };
    return { ...attempt, ...change(attempt) };
  });
  const head = {
    type: 'batch' as const,
    schemaVersion: 1 as const,
    name: 'example',
    seed: plan.seed,
    backend: 'kind',
    isModel: false,
    fingerprint: plan.fingerprint,
    startedAt: '2026-01-01T00:00:00.000Z',
  };
  return batchSchema.parse(summarizeBatch(plan, { head, attempts }));
}

const asPredicted = ({ scenario }: BatchTrial): RunOutcome =>
  scenario.expected.includes('safe') ? exampleOutcome() : lost;

test('all as expected: 0, with what each axis did', () => {
  const batch = batchOf(asPredicted);
  expect(batchExitCode(batch)).toBe(0);
  expect(batch).toMatchObject({ verdict: 'expected', inconclusiveBecause: [], busyS: 480 });
  expect(batch.sentence).toBe(
    '4 cells in 4 fault events that came to a verdict: 3 safe, 1 lost; none unexpected; ' +
      '3 of 3 controls hold; a silent loss of 7 of 1,000 commits was seen; 1 of 1 reruns alone agree',
  );
  expect(batch.contrasts).toEqual([
    { axis: 'remedy', from: 'none', to: 'force-delete', pairs: 2, changed: 1, better: 0 },
    { axis: 'disk', from: 'unfenced', to: 'fenced', pairs: 2, changed: 1, better: 1 },
  ]);
  expect(batch.differences).toMatchObject([
    { axis: 'remedy', elsewhere: 'disk unfenced', fromVerdict: 'safe', toVerdict: 'lost', by: 1 },
    { axis: 'disk', elsewhere: 'remedy force-delete', toVerdict: 'safe', by: -1 },
  ]);
});

test('a control that fails takes the whole batch', () => {
  for (const [role, wrong] of Object.entries({
    total: exampleOutcome({ verdict: 'lost', lost: 3 }),
    silent: exampleOutcome({ verdict: 'lost', lost: 3, noticed: 'loud' }),
    safe: exampleOutcome({ secondMountS: null }),
  })) {
    const batch = batchOf(asPredicted, {}, ({ trial }) =>
      trial === `control-${role}` ? { outcome: wrong } : {},
    );
    expect(batch.verdict).toBe('inconclusive');
    expect(batch.inconclusiveBecause.join()).toMatch(new RegExp(`^control ${role}: `));
    expect(batch.reasons).toMatchObject([{ code: 'CONTROL_FAILED', fields: { role } }]);
    expect(batchExitCode(batch)).toBe(3);
  }
});

test('a cell that comes to something else alone takes the whole batch', () => {
  const batch = batchOf((trial) => {
    if (trial.kind !== 'check') return asPredicted(trial);
    return asPredicted(trial).verdict === 'safe' ? lost : exampleOutcome();
  });
  expect(batch.checks).toMatchObject([{ agrees: false }]);
  expect(batch.inconclusiveBecause.join()).toMatch(/alone, and to .* beside others/);
  expect(batch.reasons).toMatchObject([{ code: 'RERUN_DIFFERS' }]);
});

test('a safe cell that nobody serves is unexpected, where somebody had to', () => {
  const batch = batchOf((trial) => ({ ...asPredicted(trial), served: false }));
  expect(batch.verdict).toBe('unexpected');
  expect(batch.cells.filter(({ asExpected }) => asExpected === false)).toMatchObject([
    { verdict: 'safe', expectedServing: 'yes' },
    { verdict: 'safe', expectedServing: 'yes' },
    { verdict: 'safe', expectedServing: 'yes' },
  ]);
  expect(batchOf((trial) => ({ ...asPredicted(trial), served: true })).verdict).toBe('expected');
});

test('unreadable, lost and missing stay three numbers in a cell', () => {
  const missing = {
    unreadableBeforeHeal: { count: 800, of: 1000 },
    lost: { count: 9, of: 1000 },
    afterHeal: { count: 12, of: 1100 },
  };
  const told = batchOf((trial) => ({ ...asPredicted(trial), lost: 800, missing }));
  expect(cellLosses(told.cells[0] as BatchCell)).toBe(
    '9 of 1,000 lost, 800 unreadable before the heal, 12 missing after it',
  );
  const unknown = batchOf((trial) => ({
    ...asPredicted(trial),
    missing: { ...missing, lost: null },
  }));
  expect(cellLosses(unknown.cells[0] as BatchCell)).toMatch(/^loss not known, 800 unreadable/);
  const older = batchOf((trial) => ({ ...asPredicted(trial), lost: 800 }));
  expect(cellLosses(older.cells[0] as BatchCell)).toBe('800 of 1,000 lost or unreadable');
});

test('an unexpected cell: 1; one without a verdict: 3; none with one: 4', () => {
  const unexpected = batchOf(() => exampleOutcome({ verdict: 'exposed' }));
  expect(unexpected.verdict).toBe('unexpected');
  expect(batchExitCode(unexpected)).toBe(1);
  const first = examplePlan().trials.find(({ kind, subject }) => {
    const checked = examplePlan().trials.filter((trial) => trial.kind === 'check');
    return kind === 'cell' && checked.every((trial) => trial.subject !== subject);
  })?.id;
  const missing = batchOf((trial) => (trial.id === first ? undefined : asPredicted(trial)));
  expect(missing.verdict).toBe('expected');
  expect(batchExitCode(missing)).toBe(3);
  expect(batchExitCode(batchOf(() => undefined))).toBe(4);
});

test('a race that nobody counted: 5, with what came; one that came to something else: 1', () => {
  const open = batchOf(asPredicted, { counts: {} });
  expect({ verdict: open.verdict, code: batchExitCode(open) }).toEqual({
    verdict: 'open',
    code: 5,
  });
  expect(open.sentence).toContain('none unexpected; 1 open: no expectation');
  expect(open.cells.filter((cell) => cell.open)).toMatchObject([
    { verdict: 'lost', asExpected: null, expected: ['exposed', 'lost', 'corrupt'] },
  ]);
  const safe = batchOf(() => exampleOutcome(), { counts: {} });
  expect(batchExitCode(safe)).toBe(1);
});

test('a cell that ran often disagrees with its rerun where chance does not explain it', () => {
  const check = (repeats: number): Batch =>
    batchOf(({ kind }) => (kind === 'check' ? lost : exampleOutcome()), { repeats });
  expect(check(1).checks).toMatchObject([{ agrees: false }]);
  expect(check(8).checks).toMatchObject([{ agrees: true }]);
  expect(check(24).checks).toMatchObject([{ agrees: false }]);
});
