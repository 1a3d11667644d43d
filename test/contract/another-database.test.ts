/**
 * A run with another database in MySQL's place, on the model: nothing that the run records, judges or
 * tells may say MySQL, and the other one's own signs and checks must be the ones that are asked.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import * as api from '../../index.ts';
import type { Checker } from '../../lib/checkers/checker.ts';
import type { Database } from '../../lib/database/port.ts';
import type { OwnChecks } from '../../lib/checkers/checker.ts';
import { openHistory } from '../../lib/history/reader.ts';
import { writtenOf } from '../../lib/experiment/written.ts';
import { shortTimers } from '../support/model-run.ts';

vi.mock(import('../../lib/database/chosen.ts'), async (original) => {
  const { database } = await original();
  const other: Database = {
    ...database,
    ...{ name: 'toy', title: 'Toy', server: 'toyd' },
    pod: { ...database.pod, dataFolder: '/toy' },
    log: {
      ...database.log,
      signs: { error: 'oh no', ready: 'here I am', stopped: 'good night' },
      ofStorage: '<files>',
      damage: /oh no/,
      modelled: { locked: 'oh no, taken', recovered: 'all replayed' },
    },
    tools: {
      ...{ checkTable: 'look again', offline: 'toycheck', secondWitnesses: [] },
      byFinding: { SERVER_CANNOT_START: 'toyd', ERROR_LOG_DAMAGE: 'toyd' },
    },
  };
  return { database: other };
});

vi.mock(import('../../lib/database/evidence.ts'), async (original) => ({
  ...(await original()),
  nothingOwn: {} as never,
  modelledEvidence: () => ({ notes: 'sound' }) as never,
}));

vi.mock(import('../../lib/database/checks.ts'), () => {
  const notes: Checker = {
    name: 'notes',
    check: ({ image, evidence }) => [
      api.note('NOTES_READ', `${image} image: its notes say ${JSON.stringify(evidence)}`, []),
    ],
  };
  const ownChecks: OwnChecks = { logs: [], structures: [notes] };
  const ownGaps = (): Record<'pages' | 'logs' | 'tables', string[]> => ({
    ...{ pages: [], logs: [], tables: [] },
  });
  return { ownChecks, ownGaps, ownAnswers: () => [] };
});

test('a run takes another database without a word of MySQL', { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-toy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const partition = api.experiment({
    ...writtenOf(shortTimers),
    cluster: await api.simulated(),
    fault: api.networkPartition(),
    remedy: api.forceDelete(),
  });
  const run = await partition.run({ seed: 'toy-1', folder });
  const { details } = run;
  expect(details.incompleteBecause).toEqual([]);
  expect(details.findings.map(({ code }) => code)).toContain('NOTES_READ');
  await run.report(folder);
  const records = [...openHistory(folder).smallRecords()];
  const sources = records.flatMap((record) => ('source' in record ? [record.source] : []));
  expect(sources).toContain('toyd');
  expect(JSON.stringify(records)).toContain('here I am');
  const texts = {
    history: JSON.stringify(records),
    verdict: readFileSync(join(folder, 'verdict.json'), 'utf8'),
    summary: readFileSync(join(folder, 'summary.md'), 'utf8'),
    page: readFileSync(join(folder, 'report.html'), 'utf8'),
  };
  for (const [name, text] of Object.entries(texts)) {
    // The scenario's field has its name until scenarios are nested.
    const said = text.replaceAll(/&quot;binlog&quot;|"binlog"|>binlog</g, '');
    expect([name, ...saying(said)]).toEqual([name]);
  }
  expect(texts.page).toContain('toyd');
});

const saying = (text: string): string[] =>
  [...text.matchAll(/.{0,60}(mysql|innodb|innochecksum|binlog|gtid).{0,60}/gi)].map(([all]) => all);
