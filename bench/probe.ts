/**
 * The blind table: what the probe said of a stranger's classes against what each was made to do, judged
 * again from the raw records in this repository; with `--live KUBECONFIG` of trials that are made now.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type PredictionReport, readCutCertificate } from '../lib/probe/certificate.ts';
import { committedFiles } from '../test/support/committed.ts';
import { strangerNames } from '../test/support/stranger-objects.ts';
import { cutsIn, driverVersions, wholeCertificates } from '../scripts/driver-files.ts';
import type { BenchContext, BenchResult } from './support/bench.ts';
import { liveBlind, liveRecords } from './support/blind-live.ts';
import { blindTable, type BlindRecords, type BlindRow } from './support/blind-table.ts';

const root = resolve(import.meta.dirname, '..');
const trialsOfAKind = 5;

export default async function bench(context: BenchContext): Promise<BenchResult> {
  const { live, onProgress, count: trials = trialsOfAKind } = context;
  const folder = join(root, 'reports', 'blind');
  if (live !== undefined) {
    await liveBlind({ kubeconfig: live, folder, trials, onProgress });
    onProgress(`records: ${folder}`);
  }
  const records = live === undefined ? committedRecords() : { ...liveRecords(folder), cuts: [] };
  const table = blindTable(records);
  return {
    // What only cuts tell apart stays undecided without them.
    ok: table.wrong === 0 && table.rows.length > 0 && (live !== undefined || table.undecided === 0),
    lines: [
      ...table.rows.map(lineOf),
      `${table.modes} modes, ${table.trials} trials, ${table.cuts} cuts: ${table.wrong} wrong, ${table.undecided} undecided`,
    ],
    data: { ...table },
  };
}

const lineOf = ({ storageClass, volumeMode, truth, answer, is, trials, cuts }: BlindRow): string =>
  `${storageClass} (${truth}), ${volumeMode}, ${trials} trials, ${cuts} cuts: ${answer.join(' or ') || 'undecided'}: ${is}`;

export function committedRecords(): BlindRecords {
  const certificates = join(root, 'test/fixtures/certificates');
  const versions = driverVersions(certificates).filter(
    ({ driver }) => driver === strangerNames.disk,
  );
  return {
    certificates: versions.flatMap(({ driver, version }) =>
      wholeCertificates(certificates, driver, version),
    ),
    cuts: versions
      .flatMap(({ driver, version }) => cutsIn(certificates, driver, version))
      .map(({ text }) => readCutCertificate(text)),
    answers: committedFiles('test/fixtures/probe-refusals').map(
      (file) => JSON.parse(readFileSync(join(root, file), 'utf8')) as PredictionReport,
    ),
  };
}
