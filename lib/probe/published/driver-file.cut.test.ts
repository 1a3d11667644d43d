/** A cut's certificate as a page, as JUnit XML, and among those of its driver; what was changed is refused. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { type CutCertificate, readCutCertificate } from '../certificate.ts';
import { classifyCut } from '../judge/cut.ts';
import { cutText, remediesTitle } from '../texts.ts';
import { renderCutHtml } from './html.ts';
import { renderCutJunit } from './junit.ts';
import { addCertificate, cutsIn, rebuilt } from '../../../scripts/driver-files.ts';

const root = fileURLToPath(new URL('../../../test/fixtures/certificates/', import.meta.url));
const [first] = cutsIn(root, 'block.acme.example', 'dac05a0c7485');
if (first === undefined) throw new Error('the first cut is not there');
const cut = readCutCertificate(first.text);
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-cuts-'));
afterAll(() => rmSync(folder, { recursive: true }));
const changed = (change: Partial<CutCertificate>): string => JSON.stringify({ ...cut, ...change });

test('the page has every class, what became of it, and no script', async () => {
  const page = await renderCutHtml(cut);
  for (const { storageClass, outcome, why } of cut.findings) {
    expect(page).toContain(`<td>${storageClass}</td><td>${outcome}</td>`);
    expect(page.replaceAll('&quot;', '"')).toContain(why);
  }
  expect(page).toContain('n = 1 for each class');
  expect(page).not.toMatch(/<script|https?:/);
});

test('the page and the text say what each remedy did on a disk of each kind that was seen', async () => {
  const page = await renderCutHtml(cut);
  const text = cutText(cut);
  const seen = new Set(cut.findings.flatMap(({ modes }) => modes));
  expect(seen.size).toBeGreaterThan(3);
  for (const mode of seen) {
    expect(page).toContain(`<h3>${mode}</h3>`);
    expect(text).toContain(`\n  ${mode}\n`);
  }
  for (const told of [page, text]) expect(told).toContain(remediesTitle);
  const findings = cut.findings.map((finding) => ({ ...finding, modes: [] }));
  expect(await renderCutHtml({ ...cut, findings })).not.toContain(remediesTitle);
});

test('what a driver says is text in both, never markup', async () => {
  const why = '</td><script>alert(1)</script>\u0001';
  const findings = cut.findings.map((finding) => ({ ...finding, why }));
  expect(await renderCutHtml({ ...cut, findings })).not.toContain('<script');
  const xml = await renderCutJunit({ ...cut, findings });
  expect(xml).not.toContain('<script');
  expect(xml).not.toContain('\u0001');
});

const attributes = (xml: string): Record<string, string> =>
  Object.fromEntries(
    [...(/<testsuite [^>]*>/.exec(xml)?.[0] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );

test('in JUnit no outcome fails; a heal that is not proven and what is left do', async () => {
  expect(attributes(await renderCutJunit(cut))).toMatchObject({
    ...{ tests: '9', failures: '0', errors: '0' },
  });
  const findings = cut.findings.map((finding) => ({ ...finding, outcome: 'undecided' as const }));
  const record = { ...cut.record, checked: false };
  const xml = await renderCutJunit({ ...cut, findings, record, left: 'the volume pvc-1' });
  expect(attributes(xml)).toMatchObject({ tests: '9', failures: '2', skipped: '7' });
  expect(xml.split('<testcase ').length - 1).toBe(9);
  expect(xml).toContain('<failure message="still there">the volume pvc-1</failure>');
});

test('one that is added is judged from the records, and stays beside an earlier one', () => {
  // What the sender’s own judgement said does not count.
  const findings = cut.findings.map((finding) => ({ ...finding, outcome: 'both-wrote' as const }));
  const path = addCertificate(folder, changed({ findings }), '1.2.3');
  addCertificate(folder, changed({ beganAt: '2030-01-01T00:00:00.000Z' }), '1.2.3');
  const file = JSON.parse(readFileSync(path, 'utf8')) as ReturnType<typeof rebuilt>;
  expect(file.classes).toEqual([]);
  expect(file.cuts).toHaveLength(14);
  const outcomes = file.cuts.slice(0, 7).map(({ outcome }) => outcome);
  const { record, plan } = cut;
  const judged = record.volumes.map((volume) => classifyCut(record, volume, plan.remedy).outcome);
  expect(outcomes).toEqual(judged);
  expect(new Set(outcomes).size).toBeGreaterThan(3);
  expect(new Set(file.cuts.map(({ records }) => records)).size).toBe(2);
});

const [some, ...others] = cut.classes;

test.each([
  ['half of it', changed({ record: { checked: true } as never }), /record.looks: Invalid input/],
  ['a later form', changed({ schemaVersion: 2 as 1 }), /no certificate/],
  ['a plan that was changed', changed({ plan: { ...cut.plan, healAfterMs: 1 } }), /hash/],
  [
    'a volume that was left out',
    changed({ record: { ...cut.record, volumes: cut.record.volumes.slice(1) } }),
    /not those of its plan/,
  ],
  [
    'classes of two drivers',
    changed({
      classes: [{ name: 'x', parameters: {}, ...some, driver: 'other.example' }, ...others],
    }),
    /several drivers \(other.example, block.acme.example\)/,
  ],
  [
    'a way out',
    changed({ classes: cut.classes.map((each) => ({ ...each, driver: '../../up' })) }),
    /is no name/,
  ],
])('refused: %s', (_, text, why) => {
  expect(() => addCertificate(folder, text, '1')).toThrow(
    expect.objectContaining({ code: 'NO_CERTIFICATE', message: expect.stringMatching(why) }),
  );
});
