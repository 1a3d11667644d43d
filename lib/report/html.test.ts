import { combined } from '../scenario/fields.ts';
import { expect, test } from 'vitest';
import type { HistoryRecord } from '../history/records.ts';
import { observed } from '../history/observations.ts';
import { missingOf } from '../judge/verdict/assemble.ts';
import { sentenceOf } from '../judge/verdict/words.ts';
import type { Verdict } from '../judge/verdict/verdict.ts';
import { exampleHistory } from '../../test/support/example-history.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';
import { exampleSource, sourceOf } from '../../test/support/example-source.ts';
import { renderHtml } from './html.ts';
import { renderJunit } from './junit.ts';
import { reportData, type ReportData } from './report-data.ts';
import { renderSummary } from './write.ts';
import { mysql } from '../mysql/database.ts';

const data = reportData(exampleVerdict, exampleSource, mysql);

/** The page without the links to what its words mean. */
const plain = async (made: ReportData): Promise<string> =>
  (await renderHtml(made)).replaceAll(/<a class="term"[^>]*>([^<]*)<\/a>/g, '$1');

const withDisk = (fields: Record<string, unknown>): Verdict => ({
  ...exampleVerdict,
  scenario: combined(exampleVerdict.scenario, fields),
});

const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&\u2028`;
const poisoned: Verdict = {
  ...exampleVerdict,
  sentence: hostile,
  runId: hostile,
  replay: hostile,
  findings: exampleVerdict.findings.map((finding) => ({
    ...finding,
    summary: hostile,
    evidence: [hostile],
  })),
  certificates: [
    { fault: hostile, moment: hostile, claim: hostile, holds: false, evidence: hostile },
  ],
  licence: [{ atS: 1, step: hostile, source: hostile, evidence: hostile }],
  versions: { [hostile]: hostile },
};
const poisonedHistory: HistoryRecord[] = [
  ...exampleHistory(),
  {
    type: 'observation',
    t: 600_000,
    source: hostile,
    name: observed.podRunning,
    node: hostile,
    data: { pod: hostile, uid: hostile, ip: hostile },
  },
];

test('hostile names, lines and rows stay text', async () => {
  const page = await renderHtml(reportData(poisoned, sourceOf(poisonedHistory), mysql));
  expect(page.includes('<script>alert(1)')).toBe(false);
  expect(page.includes('<img src=x')).toBe(false);
  expect(page.match(/<script[ >]/g)).toHaveLength(4);
  expect(page.includes('&lt;img src=x')).toBe(true);
  const junit = await renderJunit(poisoned, sourceOf(poisonedHistory));
  expect(junit).not.toContain('<script');
  // The replay command stands in a code block, where tags are text.
  expect(renderSummary(poisoned).split('```')[0]).not.toContain('<script');
});

test('the policy allows only what the page was made with', async () => {
  const page = await renderHtml(data);
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1] ?? '';
  expect(policy).toContain('default-src &#39;none&#39;');
  expect(policy).not.toContain('unsafe');
  expect(policy.match(/sha256-/g)).toHaveLength(3);
  const markup = page.replaceAll(/<script[^>]*>.*?<\/script>/gs, '');
  expect(/<[^>]+ (?:style|on\w+)="/.test(markup)).toBe(false);
});

const safeUnserved = {
  verdict: 'safe',
  expected: ['safe'],
  serving: { expected: 'yes', because: 'made up', served: false, asExpected: false },
} satisfies Partial<Verdict>;

test('unreadable before the heal and lost after it are two numbers of one tile', async () => {
  const images: Verdict['images'] = [
    { image: 'first', acked: 15_652, lost: 15_583, readable: false },
    { image: 'second', acked: 15_652, lost: 304, readable: true },
  ];
  const beforeFault = { acked: 15_652, lost: 15_583 };
  const told: Verdict = {
    ...exampleVerdict,
    lost: 15_583,
    loss: exampleVerdict.loss && { ...exampleVerdict.loss, beforeFault },
    images,
    missing: missingOf(images),
  };
  const page = await plain(
    reportData({ ...told, sentence: sentenceOf(told, mysql) }, exampleSource, mysql),
  );
  const fact = (name: string): string =>
    new RegExp(`<dt>${name}</dt><dd[^>]*>([^<]*)<`).exec(page)?.[1] ?? '';
  expect(fact('Acknowledged commits')).toBe('304 of 15,652 lost');
  expect(page).toContain('after the heal; before the heal 15,583 of 15,652 unreadable');
  expect(page).toContain('lost or unreadable</th>');
  expect(page).not.toMatch(/>lost<\/th>/);
  const summary = renderSummary(told);
  expect(summary).toContain('| Acknowledged commits | 304 of 15,652 lost (after the heal; ');
  expect(summary).not.toMatch(/\| lost \|/);
});

test('a run without a fault counts from its start, and points to no harm that it did not do', async () => {
  const notice = { by: 'mysqld', what: 'errors in the error log on a', count: 2, evidence: '' };
  const at = { firstS: 1, lastS: 2, when: 'before the heal', ofHarm: true } as const;
  const verdict: Verdict = {
    ...{
      ...withDisk({ fault: { kind: 'none' }, remedy: { at: 0 } }),
      ...safeUnserved,
      safety: 'safe',
      noticed: null,
    },
    notices: [{ ...notice, ...at }],
  };
  const page = await plain(reportData(verdict, exampleSource, mysql));
  expect(page).toContain('after the start');
  expect(page.replaceAll(/<script.*?<\/script>/gs, '')).not.toMatch(/(before|after) the fault/);
  expect(renderSummary(verdict)).not.toContain('the fault');
  expect(page).not.toContain('<th>Harm</th>');
  expect(page).toContain('This run did no harm');
  expect(await plain(data)).toContain('after the fault');
});
