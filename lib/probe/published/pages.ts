/** Pages of certificates that were written before: of one, or of all that a driver's file was made from. */
import { dirname, join } from 'node:path';
import { writeOutput } from '../../core/index.ts';
import { classifyAll } from '../judge/cut.ts';
import { judgeTrials } from '../judge/measured.ts';
import {
  certificateText,
  notOne,
  parsed,
  readCertificate,
  readCutCertificate,
} from '../certificate.ts';
import type { DriverFile } from './driver-file.ts';
import { renderCertificateHtml, renderCutHtml } from './html.ts';

/**
 * Writes each page beside its certificate, and returns their paths. Judges again: the rules of today, the
 * records of then. Throws UsageError `NO_CERTIFICATE`, and as `readInput` does.
 */
export async function writeCertificatePages(path: string): Promise<string[]> {
  const text = certificateText(path);
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
  if (kind === 'cut-certificate') {
    const cut = readCutCertificate(text);
    const findings = classifyAll(cut.record, cut.plan.remedy);
    writeOutput(page, await renderCutHtml({ ...cut, findings }));
  } else if (kind === 'detach-certificate') {
    const { trials, plan, ...rest } = readCertificate(text);
    const judged = judgeTrials(trials, plan);
    writeOutput(page, await renderCertificateHtml({ ...rest, trials, plan, ...judged }));
  } else throw notOne(`${path} is no certificate`);
  return [page];
}
