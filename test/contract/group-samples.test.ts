/** The committed runs on a replication group are real: their verdicts follow from their histories. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { renderGroupHtml } from '../../lib/group-replication/page.ts';
import { groupSummary } from '../../lib/group-replication/write.ts';
import { groupVerdictSchema } from '../../lib/group-replication/verdict.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { judgeHistory } from '../../lib/library/tested.ts';
import { committedNames } from '../support/committed.ts';

const folder = 'reports/group-replication';
const names = committedNames(folder);

test.each(names)('%s', async (name) => {
  const read = (file: string): string => readFileSync(join(folder, name, file), 'utf8');
  const judged = await judgeHistory(openHistory(join(folder, name)));
  const verdict = groupVerdictSchema.parse(judged.verdict);
  expect(verdict).toEqual(JSON.parse(read('verdict.json')));
  expect(groupSummary(verdict)).toBe(read('summary.md'));
  const page = await renderGroupHtml(verdict);
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
