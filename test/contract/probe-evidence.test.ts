/** Every answer of the probe, also a prediction, has the one form, and says what it does not rest on. */
import {
  type PredictionReport,
  certificateJsonSchema,
  certificateOf,
  cutCertificateOf,
  readCertificate,
  readCutCertificate,
} from '../../lib/probe/certificate.ts';
import { predictionFor } from '../../lib/probe/dry-run.ts';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { cutsIn, wholeCertificates } from '../../scripts/driver-files.ts';
import { fakeOf, request } from '../support/fake-probe.ts';
import { predictDriver } from '../../lib/probe/predict.ts';
import { answerText, cutText, measuredText } from '../../lib/probe/texts.ts';
import type { Facts } from '../../lib/probe/facts.ts';
import {
  renderCertificateHtml,
  renderCutHtml,
  renderPredictionHtml,
} from '../../lib/probe/published/html.ts';
import { renderPredictionJunit } from '../../lib/probe/published/junit.ts';

const root = fileURLToPath(new URL('../fixtures/certificates', import.meta.url));
const [amber] = wholeCertificates(root, 'block.acme.example', 'dac05a0c7485');
const [packedCut] = cutsIn(root, 'block.acme.example', 'dac05a0c7485');
if (amber === undefined || packedCut === undefined) throw new Error('certificates are missing');
const cut = readCutCertificate(packedCut.text);

const schema = z.fromJSONSchema(certificateJsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);
const takes = (answer: object): boolean =>
  schema.safeParse(JSON.parse(JSON.stringify(answer))).success;

/** Of a class without an attach phase, where pods may not be listed. */
async function predicted(): Promise<PredictionReport> {
  const { clients } = await fakeOf({ attachRequired: false, forbids: 'list pods' });
  return predictionFor(clients, { ...request, volumeMode: 'Block' });
}

const refused = [{ what: 'list pods', why: 'not allowed (403)' }];

test('a prediction is of the one form, and no other answer passes for one', async () => {
  const answer = await predicted();
  expect(answer).toMatchObject({ kind: 'prediction', schemaVersion: 1, refused });
  expect([answer, amber, cut].map(takes)).toEqual([true, true, true]);
  const { askedAt: _, ...half } = answer;
  expect([half, { ...answer, schemaVersion: 2 }, { ...answer, kind: 'guess' }].map(takes)).toEqual([
    ...[false, false, false],
  ]);
  expect(() => readCertificate(JSON.stringify(answer))).toThrow(
    expect.objectContaining({ code: 'NO_CERTIFICATE' }),
  );
});

test('as a page it has every line with its source, and says that nothing was measured', async () => {
  const answer = await predicted();
  const page = await renderPredictionHtml(answer);
  for (const { what, source } of answer.prediction.lines) {
    expect(page).toContain(`<td>${what}</td>`);
    expect(page).toContain(`<td>${source}</td>`);
  }
  for (const told of [page, answerText(answer)]) {
    expect(told).toContain('Nothing was measured.');
    expect(told).toContain('NO_ATTACHMENTS');
    expect(told).toContain('list pods');
  }
  expect(page).not.toMatch(/<script|https?:/);
});

test('as JUnit XML it fails nothing, and skips what is not known or not to be had', async () => {
  const answer = await predicted();
  const counts = /tests="(\d)"\s+failures="(\d)" errors="(\d)"(?: skipped="(\d)")?/;
  const xml = await renderPredictionJunit(answer);
  expect(counts.exec(xml)?.slice(1)).toEqual(['3', '0', '0', '3']);
  const { refusal: _, ...rest } = answer;
  const known: PredictionReport = {
    ...{ ...rest, missingRights: [] },
    prediction: { ...answer.prediction, mode: 'fenced' },
  };
  expect(counts.exec(await renderPredictionJunit(known))?.slice(1)).toEqual([
    '3',
    '0',
    '0',
    undefined,
  ]);
  const evil = '</td><script>alert(1)</script>\u0001';
  const strange = { ...answer, driver: evil, refusal: evil, missingRights: [evil] };
  expect(await renderPredictionHtml(strange)).not.toContain('<script');
  const told = await renderPredictionJunit(strange);
  expect(told).not.toContain('<script');
  expect(told).not.toContain('\u0001');
});

const facts: Facts = {
  ...{ cluster: { context: 'k' }, kubernetes: 'v1.37.2', classes: ['amber'], refused },
  storageClass: { metadata: { name: 'amber' }, provisioner: 'block.acme.example' },
  driver: 'block.acme.example',
  ...{ csiDriver: undefined, nodes: [], driverPods: [], controllerManager: undefined },
};

test('a certificate of trials says what could not be read; an older one does not', async () => {
  const { plan, trials, answer } = amber;
  const made = certificateOf({
    ...{ facts, plan, trials, judged: { answer, findings: amber.findings } },
    ...{ beganAt: new Date(), prediction: predictDriver(facts) },
  });
  expect(made.refused).toEqual(refused);
  expect(readCertificate(JSON.stringify(made)).refused).toEqual(refused);
  for (const told of [await renderCertificateHtml(made), measuredText(made)]) {
    expect(told).toMatch(/could not be read.*list pods: not allowed \(403\)/s);
  }
  expect(takes({ ...made, refused: ['pods'] })).toBe(false);
  for (const told of [await renderCertificateHtml(amber), measuredText(amber)]) {
    expect(told).not.toContain('could not be read');
  }
});

test('one of a cut says that, too, and whether the storage path of each class survived', async () => {
  const { plan, record, findings } = cut;
  const classOf = (name: string): Facts => ({
    ...facts,
    storageClass: { metadata: { name }, provisioner: 'block.acme.example' },
  });
  const made = cutCertificateOf({
    ...{
      facts: [classOf('amber'), classOf('basalt')],
      plan,
      record,
      findings: findings.map((each) => ({ ...each, storagePath: 'survived' as const })),
      beganAt: new Date(),
    },
  });
  expect(made).toMatchObject({
    refused,
    classes: [
      { name: 'amber', storagePath: 'survived' },
      { name: 'basalt', storagePath: 'survived' },
    ],
  });
  expect(takes(made)).toBe(true);
  expect(cutText(made)).toContain('the storage path of the node: amber survived, basalt survived');
  expect(await renderCutHtml(made)).toContain('storage path: survived');
  for (const told of [await renderCutHtml(made), cutText(made)]) {
    expect(told).toMatch(/could not be read.*list pods: not allowed \(403\)/s);
  }
  for (const told of [await renderCutHtml(cut), cutText(cut)]) {
    expect(told).not.toMatch(/; storage path:|storage path of the node:|could not be read/);
  }
});
