/** Certificates as pages, as JUnit XML, and among those of their driver; what was changed is refused. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { classifyAll } from '../judge/cut.ts';
import { judgeTrials } from '../judge/measured.ts';
import { planHash } from '../plan.ts';
import { cutText, forcedMeaning, measuredText, remediesTitle } from '../texts.ts';
import { forcedOf } from '../../../test/support/probe-trial.ts';
import {
  type Certificate,
  type CutCertificate,
  readCertificate,
  readCutCertificate,
} from '../certificate.ts';
import { type DriverFile, classRowOf } from './driver-file.ts';
import { addCertificate, cutsIn, wholeCertificates } from '../../../scripts/driver-files.ts';
import { sealOf } from '../../core/files.ts';
import { renderCertificateHtml, renderCutHtml } from './html.ts';
import { renderCertificateJunit, renderCutJunit } from './junit.ts';

const root = fileURLToPath(new URL('../../../test/fixtures/certificates/', import.meta.url));
const [amber] = wholeCertificates(root, 'block.acme.example', 'dac05a0c7485');
const [first] = cutsIn(root, 'block.acme.example', 'dac05a0c7485');
if (amber === undefined || first === undefined) throw new Error('the first ones are not there');
const cut = readCutCertificate(first.text);
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-certificates-'));
afterAll(() => rmSync(folder, { recursive: true }));

const changed = (change: Partial<Certificate>): string => JSON.stringify({ ...amber, ...change });
const changedCut = (change: Partial<CutCertificate>): string =>
  JSON.stringify({ ...cut, ...change });

const evil = '</td><script>alert(1)</script>\u0001';
const noAnswer = { ...amber.answer, mode: undefined, modes: [] };
const kinds = [
  {
    kind: 'trials',
    page: await renderCertificateHtml(amber),
    says: ['amber answers a forced detach as unfenced or fence-if-out-of-service does'],
    text: measuredText(amber),
    rows: amber.findings.map(({ name, why }) => [`<td>${name}</td>`, why] as const),
    modes: amber.answer.modes,
    undecidedPage: await renderCertificateHtml({ ...amber, answer: noAnswer }),
    undecidedText: measuredText({ ...amber, answer: noAnswer }),
  },
  {
    kind: 'a cut',
    page: await renderCutHtml(cut),
    says: ['n = 1 for each class'],
    text: cutText(cut),
    rows: cut.findings.map(
      ({ storageClass, outcome, why }) =>
        [`<td>${storageClass}</td><td>${outcome}</td>`, why] as const,
    ),
    modes: [...new Set(cut.findings.flatMap(({ modes }) => modes))],
    undecidedPage: await renderCutHtml({
      ...{ ...cut, findings: cut.findings.map((finding) => ({ ...finding, modes: [] })) },
    }),
    undecidedText: '',
  },
];

describe.each(kinds)('of $kind', ({ page, says, text, rows, modes, ...undecided }) => {
  test('the page has the answer, a row for each finding and no script', () => {
    for (const said of says) expect(page).toContain(said);
    for (const [row, why] of rows) {
      expect(page).toContain(row);
      expect(page.replaceAll('&quot;', '"')).toContain(why);
    }
    expect(page).not.toMatch(/<script|https?:/);
  });

  test('page and text say what each remedy did on such a disk, none of an undecided one', () => {
    for (const told of [page, text]) {
      expect(told).toContain('Your driver and your database were not in them.');
      expect(told).toMatch(/corrupt \d+ of \d+ \(\d+–100 %\)/);
      expect(told).toContain('not measured');
    }
    for (const mode of modes) {
      expect(page).toContain(`<h3>${mode}</h3>`);
      expect(text).toContain(`\n  ${mode}\n`);
    }
    expect(text).toMatch(/^ {4}not measured; what reasoning expects: .*drain \(safe\)/m);
    expect(undecided.undecidedPage).not.toContain(remediesTitle);
    expect(undecided.undecidedText).not.toContain(remediesTitle);
  });
});

test('what a driver says is text in page and JUnit, never markup', async () => {
  const [finding, ...others] = amber.findings;
  if (finding === undefined) throw new Error('there are findings');
  const strange = { ...amber, findings: [{ ...finding, why: evil }, ...others], noBlock: evil };
  const findings = cut.findings.map((each) => ({ ...each, why: evil }));
  for (const told of [
    ...[await renderCertificateHtml(strange), await renderCutHtml({ ...cut, findings })],
    ...[await renderCertificateJunit(strange), await renderCutJunit({ ...cut, findings })],
  ]) {
    expect(told).not.toContain('<script');
    if (told.startsWith('<?xml')) expect(told).not.toContain('\u0001');
  }
});

/** Of the suite, and how many cases it has. */
const attributes = (xml: string): Record<string, string | number> => ({
  ...Object.fromEntries(
    [...(/<testsuite [^>]*>/.exec(xml)?.[0] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  ),
  cases: xml.split('<testcase ').length - 1,
});
const left = 'the volume pvc-1';
const undecided = { outcome: 'undecided', why: 'gaps' } as const;

test('in JUnit a decided answer passes; an undecided one is an error, what is left fails', async () => {
  expect(attributes(await renderCertificateJunit(amber))).toEqual({
    ...{ name: 'detach amber', time: '161.314', tests: '9', failures: '0', errors: '0', cases: 9 },
  });
  const xml = await renderCertificateJunit({
    ...{ ...amber, left },
    answer: { ...noAnswer, notes: ['no trial could be decided'] },
    findings: amber.findings.map((finding) => ({ ...finding, ...undecided })),
  });
  expect(attributes(xml)).toMatchObject({ tests: '9', failures: '1', errors: '1', skipped: '7' });
  expect(xml).toContain('<error message="undecided">no trial could be decided</error>');
  expect(xml.split('<skipped message="gaps"/>').length - 1).toBe(7);
  expect(xml).toContain('<failure message="still there">the volume pvc-1</failure>');
});

test('in JUnit no outcome of a cut fails; a heal that is not proven and what is left do', async () => {
  expect(attributes(await renderCutJunit(cut))).toMatchObject({
    ...{ tests: '9', failures: '0', errors: '0' },
  });
  const findings = cut.findings.map((finding) => ({ ...finding, ...undecided }));
  const record = { ...cut.record, checked: false };
  const xml = await renderCutJunit({ ...cut, findings, record, left });
  expect(attributes(xml)).toMatchObject({ tests: '9', failures: '2', skipped: '7', cases: 9 });
  expect(xml).toContain('<failure message="still there">the volume pvc-1</failure>');
});

/** The same with two pods that were deleted by force: one ended, one wrote beside the next. */
function withForced(one: Certificate): Certificate {
  const [a, b] = one.plan.nodes;
  const more = [forcedOf(), { ...forcedOf({ killMs: 30_000 }), name: 'force-deleted-2' }].map(
    ({ writer, next, ...record }) => ({
      ...record,
      ...(writer && { writer: { ...writer, node: a } }),
      ...(next && { next: { ...next, node: b } }),
    }),
  );
  const list = [...one.plan.list, ...more].map(({ name, variant }) => ({ name, variant }));
  const trials = [...one.trials, ...more];
  const plan = { ...one.plan, list };
  return { ...one, plan, planHash: planHash(plan), trials, ...judgeTrials(trials, plan) };
}

test('pods that were deleted by force have a row of their own in page, JUnit and file', async () => {
  const certificate = withForced(amber);
  const page = await renderCertificateHtml(certificate);
  expect(page).toContain(forcedMeaning);
  expect(page).toContain('<td>force-deleted-2</td><td>overlapped</td>');
  expect(page).toContain('delete by force to the last write of its writer, ms');
  const xml = await renderCertificateJunit(certificate);
  expect(attributes(xml)).toMatchObject({ tests: '11', failures: '0', cases: 11 });
  expect(xml).toContain('overlapped: both pods had the volume and wrote');
  const { forceDeleted, modes, counts } = classRowOf(JSON.stringify(certificate), 'x');
  expect(forceDeleted).toMatchObject({ counts: { 'ended-first': 1, overlapped: 1 } });
  expect(forceDeleted).not.toHaveProperty('findings');
  const before = classRowOf(changed({}), 'x');
  expect({ modes, counts }).toEqual({ modes: before.modes, counts: before.counts });
  expect(before).not.toHaveProperty('forceDeleted');
  expect(before.sha256).not.toBe(classRowOf(`${changed({})}\n`, 'x').sha256);
});

const fileAt = (path: string): DriverFile => JSON.parse(readFileSync(path, 'utf8')) as DriverFile;

test('one that is added is there whole, and its row is judged from the records', () => {
  // What the sender’s own judgement said does not count.
  const text = changed({ answer: { ...amber.answer, mode: 'fenced', modes: ['fenced'] } });
  const path = addCertificate(folder, text, '1.2.3');
  expect(path).toBe(join(folder, 'block.acme.example', '1.2.3.json'));
  expect(fileAt(path)).toMatchObject({
    ...{ driver: 'block.acme.example', version: '1.2.3', cuts: [] },
    classes: [{ name: 'amber', mode: null, modes: ['unfenced', 'fence-if-out-of-service'] }],
  });
  expect(wholeCertificates(folder, 'block.acme.example', '1.2.3')).toEqual([JSON.parse(text)]);
});

test('so is a cut, which stays beside an earlier one', () => {
  const findings = cut.findings.map((finding) => ({ ...finding, outcome: 'both-wrote' as const }));
  const path = addCertificate(folder, changedCut({ findings }), '2');
  addCertificate(folder, changedCut({ beganAt: '2030-01-01T00:00:00.000Z' }), '2');
  const { classes, cuts } = fileAt(path);
  expect([classes.length, cuts.length]).toEqual([0, 14]);
  const outcomes = cuts.slice(0, 7).map(({ outcome }) => outcome);
  const judged = classifyAll(cut.record, cut.plan).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(judged);
  expect(new Set(outcomes).size).toBeGreaterThan(3);
  expect(new Set(cuts.map(({ records }) => records)).size).toBe(2);
});

const [some, ...others] = cut.classes;

test.each([
  ['no JSON', '{', /no certificate/],
  ['half of it', changed({ trials: [{ name: 'kept-1' } as never] }), /trials.0.variant: Invalid/],
  ['a later form', changed({ schemaVersion: 2 as 1 }), /no certificate/],
  ['a plan that was changed', changed({ plan: { ...amber.plan, horizonMs: 1 } }), /hash/],
  ['trials that were left out', changed({ trials: amber.trials.slice(1) }), /those of its plan/],
  ['a way out', changed({ driver: { name: '../../up', images: [] } }), /is no name/],
  [
    ...(['half of a cut', changedCut({ record: { checked: true } as never })] as const),
    /record.looks: Invalid input/,
  ],
  ['a later form of a cut', changedCut({ schemaVersion: 2 as 1 }), /no certificate/],
  [
    'trials that were changed after they were written',
    changed({ seal: sealOf(amber), kubernetes: '1.1.1' }),
    /changed after it was written/,
  ],
  [
    'a slot that no writer has',
    changed({
      trials: amber.trials.map((trial) => ({
        ...trial,
        nextJournal: { ...trial.nextJournal, scans: [{ atMs: 1, ranges: [[0, 3e9]] }] },
      })),
    }),
    /not whole: trials/,
  ],
  ['a changed cut', changedCut({ plan: { ...cut.plan, healAfterMs: 1 } }), /hash/],
  [
    'a volume that was left out',
    changedCut({ record: { ...cut.record, volumes: cut.record.volumes.slice(1) } }),
    /not those of its plan/,
  ],
  [
    'classes of two drivers',
    changedCut({
      classes: [{ name: 'x', parameters: {}, ...some, driver: 'other.example' }, ...others],
    }),
    /several drivers \(other.example, block.acme.example\)/,
  ],
  [
    'a way out of a cut',
    changedCut({ classes: cut.classes.map((each) => ({ ...each, driver: '../../up' })) }),
    /is no name/,
  ],
])('refused: %s', (_, text, why) => {
  expect(() => addCertificate(folder, text, '1')).toThrow(
    expect.objectContaining({ code: 'NO_CERTIFICATE', message: expect.stringMatching(why) }),
  );
});

test('one that is as it was written fits its seal, whatever the order of its keys', () => {
  const sealed = Object.entries({ ...amber, seal: sealOf(amber) });
  expect(readCertificate(JSON.stringify(Object.fromEntries(sealed.toReversed())))).toEqual(
    Object.fromEntries(sealed),
  );
});

test('refused: another kind, and a version that leads elsewhere', () => {
  expect(() => readCertificate('{"kind":"cut-certificate"}')).toThrow(/no certificate/);
  expect(() => addCertificate(folder, changed({}), '../1')).toThrow(/is no version/);
});
