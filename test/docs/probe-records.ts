/** The raw records of the probe that are committed, judged by today's rules, for the pages that count them. */
import { readCutCertificate } from '../../lib/probe/published/driver-file.ts';
import type { CutCertificate } from '../../lib/probe/cut/certificate.ts';
import { classifyCut, type CutFinding } from '../../lib/probe/cut/classify.ts';
import type { Certificate } from '../../lib/probe/trials/certificate.ts';
import { cutsIn, driverVersions, wholeCertificates } from '../../scripts/driver-files.ts';
import { strangerNames } from '../support/stranger-objects.ts';
import { certificates } from './certificates-page.ts';

const versions = driverVersions(certificates).filter(({ driver }) => driver === strangerNames.disk);

/** The oldest first. */
export const cuts: readonly CutCertificate[] = versions
  .flatMap(({ driver, version }) => cutsIn(certificates, driver, version))
  .map(({ text }) => readCutCertificate(text))
  .toSorted((a, b) => (a.beganAt < b.beganAt ? -1 : 1));

export const trials = (): Certificate[] =>
  versions.flatMap(({ driver, version }) => wholeCertificates(certificates, driver, version));

export const isShortened = ({ timers }: CutCertificate): boolean =>
  timers.some((timer) => timer.startsWith('--node-monitor-grace-period'));

export const judgedCut = ({ record, plan }: CutCertificate): CutFinding[] =>
  record.volumes.map((volume) => classifyCut(record, volume, plan.remedy));

/** `134 to 231 s`, in whole seconds or with these decimals. */
export function spanOf(ms: readonly number[], decimals = 0): string {
  const told = [Math.min(...ms), Math.max(...ms)].map((each) => (each / 1000).toFixed(decimals));
  return `${[...new Set(told)].join(' to ')} s`;
}
