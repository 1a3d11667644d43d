/** The committed samples are real runs: their verdicts follow from their histories. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { writeOutputs } from '../../lib/report/write.ts';
import { committedNames } from '../support/committed.ts';
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
