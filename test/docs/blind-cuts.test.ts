/** docs/internals/blind-cuts.md carries the tables that the raw records of its cuts give, judged anew. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faultyClasses, strangerClasses, strangerNames } from '../support/stranger-objects.ts';
import { markdownTable } from '../../lib/markdown-table.ts';
import type { CutCertificate } from '../../lib/probe/cut/certificate.ts';
import { classifyCut } from '../../lib/probe/cut/classify.ts';
import { readCutCertificate, cutsIn, driverVersions } from '../../scripts/driver-files.ts';
import { certificates } from './certificates-page.ts';
import { root } from './pages.ts';

const path = join(root, 'docs/internals/blind-cuts.md');
const cuts = driverVersions(certificates)
  .filter(({ driver }) => driver === strangerNames.disk)
  .flatMap(({ driver, version }) => cutsIn(certificates, driver, version))
  .map(({ text }) => readCutCertificate(text))
  .toSorted((a, b) => (a.beganAt < b.beganAt ? -1 : 1));

const isShortened = ({ timers }: CutCertificate): boolean =>
  timers.some((timer) => timer.startsWith('--node-monitor-grace-period'));

function headOf(cut: CutCertificate): string {
  const { plan, beganAt } = cut;
  const pace = isShortened(cut) ? 'shortened' : '**stock**';
  return `${plan.remedy}, ${plan.way}, ${pace}, ${beganAt.slice(11, 16)}`;
}

/** As it is judged now; where that was another word when it was asked, that one too. */
function cell({ record, plan, findings }: CutCertificate, name: string): string {
  const volume = record.volumes.find(({ storageClass }) => storageClass === name);
  if (volume === undefined) return '–';
  const { outcome } = classifyCut(record, volume, plan.remedy);
  const then = findings.find(({ storageClass }) => storageClass === name)?.outcome;
  return then === outcome ? `\`${outcome}\`` : `\`${outcome}\` (said \`${then}\`)`;
}

const truthOf = (name: string): string => {
  const {
    detachMode = '',
    cutAfterMs,
    detachAnswer,
    stageAnswer,
  } = {
    ...strangerClasses[name],
    ...faultyClasses[name],
  };
  const after = cutAfterMs === undefined ? '' : `, ${Number(cutAfterMs) / 1000} s`;
  if (stageAnswer !== undefined) return `${detachMode}; staging: ${stageAnswer}`;
  return detachAnswer === undefined ? detachMode + after : `${detachMode}; detach: ${detachAnswer}`;
};

function tableOf(volumeMode: string): string {
  const own = cuts.filter(({ plan }) => plan.volumeMode === volumeMode);
  const names = Object.keys({ ...strangerClasses, ...faultyClasses }).filter((name) =>
    own.some(({ plan }) => plan.classes.includes(name)),
  );
  return markdownTable(
    ['Class was made', ...own.map(headOf)],
    names.map((name) => [truthOf(name), ...own.map((cut) => cell(cut, name))]),
  );
}

const tables = (): string =>
  `Volumes with files:\n\n${tableOf('Filesystem')}\n\nRaw volumes:\n\n${tableOf('Block')}`;

test('the tables are those of the raw records', async () => {
  const page = readFileSync(path, 'utf8');
  const made = page.replace(
    /(<!-- measured -->\n\n).*(\n\n<!-- end -->)/s,
    (_, before: string, after: string) => `${before}${tables()}${after}`,
  );
  expect(made).toContain('<!-- measured -->');
  await expect(made).toMatchFileSnapshot(path);
});
