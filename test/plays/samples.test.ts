/** The committed samples are real runs: their verdicts follow from their histories. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assembleVerdict } from '../../lib/experiment/verdict/assemble.ts';
import type { Verdict } from '../../lib/experiment/verdict/verdict.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { writeOutputs } from '../../lib/report/write.ts';
import { readFinishedRun } from '../../research/claims/recorded-run.ts';
import { committedNames, corpusRun } from '../support/committed.ts';
import { mysql } from '../../lib/mysql/database.ts';

const folder = 'reports/samples';
const names = committedNames(folder);

const outputs = ['junit.xml', 'report.html', 'summary.md', 'timeline.svg', 'verdict.json'];

const verdicts = new Map<string, Verdict>();

function sample(name: string): Verdict {
  const verdict =
    verdicts.get(name) ?? assembleVerdict(openHistory(join(folder, name)), { database: mysql });
  verdicts.set(name, verdict);
  return verdict;
}

describe.each(names)('%s', (name) => {
  const verdict = sample(name);

  test('its verdict follows from its history', () => {
    const committed: unknown = JSON.parse(readFileSync(join(folder, name, 'verdict.json'), 'utf8'));
    expect(verdict).toEqual(committed);
  });

  test('its outputs are made from its history', async () => {
    const fresh = mkdtempSync(join(tmpdir(), 'fd-sample-'));
    try {
      await writeOutputs(fresh, verdict, openHistory(join(folder, name)), mysql);
      expect(readdirSync(fresh).toSorted()).toEqual(outputs);
      const summary = readFileSync(join(fresh, 'summary.md'), 'utf8');
      expect(summary).toContain(verdict.verdict.toUpperCase());
      const page = readFileSync(join(fresh, 'report.html'), 'utf8');
      // Words that need a meaning are links.
      expect(page.replaceAll(/<[^>]+>/g, '')).toContain(verdict.sentence);
    } finally {
      rmSync(fresh, { recursive: true });
    }
  });

  test('it was measured on kind with stock timers and is no surprise', () => {
    const { cluster, basis, asExpected, open = false } = verdict;
    expect({ cluster, basis, noSurprise: asExpected || open }).toEqual({
      cluster: 'kind',
      basis: 'measured',
      // Of a race that was counted too rarely nothing is expected.
      noSurprise: true,
    });
    expect(verdict.incompleteBecause).toEqual([]);
  });
});

test('one summary stands in git as it is made today: a snapshot', async () => {
  const name = 'partition-force-delete-unfenced';
  const fresh = mkdtempSync(join(tmpdir(), 'fd-sample-'));
  try {
    await writeOutputs(fresh, sample(name), openHistory(join(folder, name)), mysql);
    // `npm run pages` writes it.
    expect(readFileSync(join(fresh, 'summary.md'), 'utf8')).toBe(
      readFileSync(join(folder, name, 'summary.md'), 'utf8'),
    );
  } finally {
    rmSync(fresh, { recursive: true });
  }
});

const afterRemoval = ({ phases }: Verdict, phase: 'detached' | 'secondMount'): number =>
  Number(phases[phase]) - Number(phases.podRemoved);

test('a crash: detached 360 to 362 s and mounted 361 to 366 s after the pod’s removal', () => {
  const verdict = sample('node-crash');
  expect(verdict.verdict).toBe('safe');
  expect(afterRemoval(verdict, 'detached')).toBeGreaterThanOrEqual(360);
  expect(afterRemoval(verdict, 'detached')).toBeLessThan(362);
  expect(afterRemoval(verdict, 'secondMount')).toBeGreaterThan(361);
  expect(afterRemoval(verdict, 'secondMount')).toBeLessThan(366);
});

test('a partition without remedy: no second mount in 900 s', () => {
  const verdict = assembleVerdict(openHistory(corpusRun('partition-none')), { database: mysql });
  expect(verdict).toMatchObject({ verdict: 'safe', scenario: { workload: 'stateful-set' } });
  expect(verdict.phases.secondMount).toBeNull();
  expect(verdict.horizonS).toBeGreaterThanOrEqual(900);
});

test('a partition with force-delete: the fence alone decides', () => {
  expect(['lost', 'corrupt']).toContain(sample('partition-force-delete-unfenced').verdict);
  expect(sample('partition-force-delete-fenced').verdict).toBe('safe');
});

test('the out-of-service taint: a second mount within 30 s', () => {
  const { phases, licence } = sample('partition-out-of-service');
  const taint = licence.find(({ step }) => step.includes('the operator acted'));
  expect(Number(phases.secondMount) - Number(taint?.atS)).toBeLessThan(30);
});

test('trx_commit=2 and a crash: a suffix is lost, each commit of it named', () => {
  const verdict = sample('node-crash-trx-commit-2');
  expect(verdict.verdict).toBe('lost');
  const found = verdict.findings.find(({ code }) => code === 'LEDGER_LOST');
  expect(found?.summary).toContain('the last ones');
  expect(found?.evidence.length).toBeGreaterThan(0);
});

test('a zombie: harmless while it stands still, and then every commit of its successor is gone', () => {
  const { images, loss } = sample('zombie');
  expect(images.find(({ image }) => image === 'first')?.lost).toBe(0);
  expect(loss?.successor.acked).toBeGreaterThan(0);
  expect(loss?.successor.lost).toBe(loss?.successor.acked);
});

test('a controller manager killed in the wait: both sides serve without an error, both lose all', () => {
  const folder = corpusRun('controller-restart');
  const run = readFinishedRun(folder) ?? expect.fail('it has no fault');
  const { verdict, loss, phases } = run.verdict;
  expect(verdict).toBe('corrupt');
  for (const counts of [loss?.victimAfterHandover, loss?.successor]) {
    expect(counts?.acked).toBeGreaterThan(50);
    expect(counts?.lost).toBe(counts?.acked);
  }
  const servedFromMs = run.faultAtMs + Number(phases.firstCommit) * 1000;
  const failed = [...openHistory(folder).records()].filter(
    (record) => record.type === 'outcome' && record.outcome !== 'ok' && record.t >= servedFromMs,
  );
  // The heal ends the victim's own: its kubelet stops it.
  expect(failed.filter(({ t }) => t < run.story.healAtMs)).toEqual([]);
});
