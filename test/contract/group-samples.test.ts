/** Runs on a replication group in the corpus: what is written follows from their histories. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { renderGroupHtml } from '../../lib/report/group.ts';
import { groupVerdictSchema } from '../../lib/judge/group/verdict.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { judgeHistory } from '../../lib/cli/library/run-plan.ts';
import { corpusNames, corpusRun } from '../support/committed.ts';
import { mysql } from '../../lib/mysql/database.ts';

test.each(corpusNames('groups'))('%s', async (name) => {
  const judged = await judgeHistory(openHistory(corpusRun(name)), mysql);
  const verdict = groupVerdictSchema.parse(judged.verdict);
  const page = await renderGroupHtml(verdict, mysql);
  for (const { claim } of verdict.certificates) expect(page).toContain(claim);
  expect(page).not.toMatch(/<script/);
  expect(verdict).toMatchObject({ verdict: 'safe', basis: 'measured', lost: 0, asExpected: true });
  const anew = mkdtempSync(join(tmpdir(), 'forcedetach-group-'));
  onTestFinished(() => rmSync(anew, { recursive: true }));
  await judged.write(anew);
  const files = ['junit.xml', 'report.html', 'summary.md', 'verdict.json'];
  expect(readdirSync(anew).toSorted()).toEqual(files);
  const junit = readFileSync(join(anew, 'junit.xml'), 'utf8');
  const claims = new Set(
    verdict.certificates.map(({ fault, moment, claim }) => `${fault}, ${moment}: ${claim}`),
  );
  expect(junit).toContain(`tests="${1 + claims.size}"\n failures="0" errors="0"`);
  expect(junit).toContain('name="verdict" time="');
});
