/** Pages of certificates that were written before: of one, or of all that a driver's file was made from. */
import { dirname, join } from 'node:path';
import { readText } from '../../input-file.ts';
import { writeOutput } from '../../output-file.ts';
import { classifyCut } from '../cut/classify.ts';
import { judgeTrials } from '../trials/judge-trials.ts';
import { readCertificate, readCutCertificate, type DriverFile } from './driver-file.ts';
import { renderCertificateHtml, renderCutHtml } from './html.ts';
import { notOne, packed, parsed, unpacked } from './read.ts';

/**
 * Writes each page beside its certificate, and returns their paths. Judges again: the rules of today, the
 * records of then. Throws UsageError `NO_CERTIFICATE`, and as `readInput` does.
 */
export async function writeCertificatePages(path: string): Promise<string[]> {
  const text = path.endsWith(packed) ? unpacked(path) : readText(path);
  const { kind } = (parsed(text) ?? {}) as { readonly kind?: unknown };
  if (kind === 'driver-certificates') {
    // Older files have no cuts.
    const { classes, cuts = [] } = parsed(text) as Omit<DriverFile, 'cuts'> & Partial<DriverFile>;
    const records = new Set([...classes, ...cuts].map((row) => join(dirname(path), row.records)));
    const pages: string[] = [];
    for (const each of records) pages.push(...(await writeCertificatePages(each)));
    return pages;
  }
  const page = path.replace(/\.json(\.zst)?$/, '.html');
  writeOutput(page, await pageOf(path, text, kind));
  return [page];
}

function pageOf(path: string, text: string, kind: unknown): Promise<string> {
  if (kind === 'cut-certificate') {
    const cut = readCutCertificate(text);
    const { record, plan } = cut;
    const findings = record.volumes.map((volume) => classifyCut(record, volume, plan.remedy));
    return renderCutHtml({ ...cut, findings });
  }
  if (kind !== 'detach-certificate') throw notOne(`${path} is no certificate`);
  const certificate = readCertificate(text);
  return renderCertificateHtml({
    ...certificate,
    ...judgeTrials(certificate.trials, certificate.plan),
  });
}
