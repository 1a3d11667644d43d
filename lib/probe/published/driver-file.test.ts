/** A certificate as a page, as JUnit XML, and among those of its driver; what was changed is refused. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { judgeTrials } from '../judge/measured.ts';
import { planHash } from '../plan.ts';
import { forcedMeaning, measuredText, remediesTitle } from '../texts.ts';
import { forcedOf } from '../../../test/support/probe-trial.ts';
import { type Certificate, readCertificate } from '../certificate.ts';
import { classRowOf } from './driver-file.ts';
import { addCertificate, wholeCertificates } from '../../../scripts/driver-files.ts';
import { renderCertificateHtml } from './html.ts';
import { renderCertificateJunit } from './junit.ts';

const root = fileURLToPath(new URL('../../../test/fixtures/certificates/', import.meta.url));
const [amber] = wholeCertificates(root, 'block.acme.example', 'dac05a0c7485');
if (amber === undefined) throw new Error('the first certificate is not there');
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-certificates-'));
afterAll(() => rmSync(folder, { recursive: true }));

const changed = (change: Partial<Certificate>): string => JSON.stringify({ ...amber, ...change });

test('the page has the answer, every trial and no script', async () => {
  const page = await renderCertificateHtml(amber);
  expect(page).toContain(
    'amber answers a forced detach as unfenced or fence-if-out-of-service does',
  );
  for (const { name, why } of amber.findings) {
    expect(page).toContain(`<td>${name}</td>`);
    expect(page).toContain(why);
  }
  expect(page).not.toMatch(/<script|https?:/);
});

test('the page and the text say what each remedy did on such a disk, and what was not measured', async () => {
  const page = await renderCertificateHtml(amber);
  const text = measuredText(amber);
  for (const told of [page, text]) {
    expect(told).toContain('Your driver and your database were not in them.');
    for (const mode of amber.answer.modes) expect(told).toContain(mode);
    expect(told).toMatch(/corrupt \d+ of \d+ \(\d+–100 %\)/);
    expect(told).toContain('not measured');
  }
  const [row] = text.split('\n').filter((line) => /cut off, alive: drain/.test(line));
  expect(row).toMatch(/^ {4}not measured; what reasoning expects: cut off, alive: drain \(safe\)/);
});

test('of an undecided answer nothing of the kind is said', async () => {
  const answer = { ...amber.answer, mode: undefined, modes: [] };
  expect(await renderCertificateHtml({ ...amber, answer })).not.toContain(remediesTitle);
  expect(measuredText({ ...amber, answer })).not.toContain(remediesTitle);
});

test('what a driver says is text in both, never markup', async () => {
  const evil = '</td><script>alert(1)</script>\u0001';
  const [first, ...others] = amber.findings;
  if (first === undefined) throw new Error('there are findings');
  const certificate = { ...amber, findings: [{ ...first, why: evil }, ...others], noBlock: evil };
  expect(await renderCertificateHtml(certificate)).not.toContain('<script');
  const xml = await renderCertificateJunit(certificate);
  expect(xml).not.toContain('<script');
  expect(xml).not.toContain('\u0001');
});

const attributes = (xml: string): Record<string, string> =>
  Object.fromEntries(
    [...(/<testsuite [^>]*>/.exec(xml)?.[0] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );
const casesOf = (xml: string): number => xml.split('<testcase ').length - 1;

test('in JUnit a decided answer passes, and the suite counts its cases', async () => {
  const xml = await renderCertificateJunit(amber);
  expect(attributes(xml)).toEqual({
    ...{
      name: 'detach amber',
      time: '161.314',
      tests: '9',
      failures: '0',
      errors: '0',
    },
  });
  expect(casesOf(xml)).toBe(9);
});

test('an undecided answer is an error, an undecided trial is skipped, what is left fails', async () => {
  const xml = await renderCertificateJunit({
    ...amber,
    answer: { ...amber.answer, mode: undefined, modes: [], notes: ['no trial could be decided'] },
    findings: amber.findings.map((finding) => ({ ...finding, outcome: 'undecided', why: 'gaps' })),
    left: 'the volume pvc-1',
  });
  expect(attributes(xml)).toMatchObject({ tests: '9', failures: '1', errors: '1', skipped: '7' });
  expect(xml).toContain('<error message="undecided">no trial could be decided</error>');
  expect(xml.split('<skipped message="gaps"/>').length - 1).toBe(7);
  expect(xml).toContain('<failure message="still there">the volume pvc-1</failure>');
});

/** The same with two pods that were deleted by force: one ended, one wrote beside the next. */
function withForced(one: Certificate): Certificate {
  const more = [forcedOf(), { ...forcedOf({ killMs: 30_000 }), name: 'force-deleted-2' }];
  const plan = { ...one.plan, list: [...one.plan.list, ...more] };
  const list = plan.list.map(({ name, variant }) => ({ name, variant }));
  const trials = [...one.trials, ...more];
  const whole = { ...plan, list };
  return { ...one, plan: whole, planHash: planHash(whole), trials, ...judgeTrials(trials, whole) };
}

test('pods that were deleted by force have a row of their own in page, JUnit and file', async () => {
  const certificate = withForced(amber);
  const page = await renderCertificateHtml(certificate);
  expect(page).toContain(forcedMeaning);
  expect(page).toContain('<td>force-deleted-2</td><td>overlapped</td>');
  expect(page).toContain('delete by force to the last write of its writer, ms');
  const xml = await renderCertificateJunit(certificate);
  expect(attributes(xml)).toMatchObject({ tests: '11', failures: '0' });
  expect(casesOf(xml)).toBe(11);
  expect(xml).toContain('overlapped: both pods had the volume and wrote');
  const { forceDeleted, modes, counts } = classRowOf(JSON.stringify(certificate), 'x');
  expect(forceDeleted).toMatchObject({ counts: { 'ended-first': 1, overlapped: 1 } });
  expect(forceDeleted).not.toHaveProperty('findings');
  const before = classRowOf(changed({}), 'x');
  expect({ modes, counts }).toEqual({ modes: before.modes, counts: before.counts });
  expect(before).not.toHaveProperty('forceDeleted');
});

test('one that is added is there whole, and its row is judged from the records', () => {
  // What the sender’s own judgement said does not count.
  const text = changed({ answer: { ...amber.answer, mode: 'fenced', modes: ['fenced'] } });
  const path = addCertificate(folder, text, '1.2.3');
  expect(path).toBe(join(folder, 'block.acme.example', '1.2.3.json'));
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({
    ...{ driver: 'block.acme.example', version: '1.2.3' },
    classes: [{ name: 'amber', mode: null, modes: ['unfenced', 'fence-if-out-of-service'] }],
  });
  expect(wholeCertificates(folder, 'block.acme.example', '1.2.3')).toEqual([JSON.parse(text)]);
});

test.each([
  ['no JSON', '{', /no certificate/],
  ['something else', '{"kind":"cut-certificate"}', /no certificate/],
  ['half of it', changed({ trials: [{ name: 'kept-1' } as never] }), /trials.0.variant: Invalid/],
  ['a later form', changed({ schemaVersion: 2 as 1 }), /no certificate/],
  ['a plan that was changed', changed({ plan: { ...amber.plan, horizonMs: 1 } }), /hash/],
  [
    'trials that were left out',
    changed({ trials: amber.trials.slice(1) }),
    /not those of its plan/,
  ],
  ['a way out', changed({ driver: { name: '../../up', images: [] } }), /is no name/],
])('refused: %s', (_, text, why) => {
  expect(() => readCertificate(text)).toThrow(
    expect.objectContaining({ code: 'NO_CERTIFICATE', message: expect.stringMatching(why) }),
  );
});

test('refused: a version that leads elsewhere', () => {
  expect(() => addCertificate(folder, changed({}), '../1')).toThrow(/is no version/);
});

test('a row has the hash of the text', () => {
  expect(classRowOf(changed({}), 'x').sha256).not.toBe(classRowOf(`${changed({})}\n`, 'x').sha256);
});
