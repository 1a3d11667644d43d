/** docs/internals/blind-cuts.md carries the tables that the raw records of its cuts give, judged anew. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { faultyClasses, strangerClasses } from '../support/stranger-objects.ts';
import { markdownTable } from '../../lib/markdown-table.ts';
import type { CutCertificate } from '../../lib/probe/cut/certificate.ts';
import { classifyCut } from '../../lib/probe/cut/classify.ts';
import { filled, read, root } from './pages.ts';
import { cuts, isShortened, judgedCut, spanOf } from './probe-records.ts';

const path = 'docs/internals/blind-cuts.md';

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

/** Seconds after the remedy, of those that were detached while the node was silent. */
function stockTimes(): string {
  const own = cuts.filter((cut) => cut.plan.remedy === 'force-delete' && !isShortened(cut));
  const findings = own.flatMap(judgedCut).filter(({ detachedMs }) => detachedMs !== undefined);
  const detached = spanOf(findings.map(({ detachedMs = 0 }) => detachedMs));
  const next = spanOf(findings.flatMap(({ next: { afterMs } }) => afterMs ?? []));
  return `detach ${detached} after it, next pods in after ${next}`;
}

/** With stock timers, then with shortened ones. */
function evictionTimes(): string {
  const timesOf = (isShort: boolean): { readonly evicted: string; readonly detached: string } => {
    const own = cuts.filter(
      (cut) => cut.plan.remedy === 'eviction' && isShortened(cut) === isShort,
    );
    const findings = own.flatMap(judgedCut);
    return {
      evicted: spanOf(findings.map(({ podGoneMs = 0 }) => podGoneMs)),
      detached: spanOf(findings.map(({ podGoneMs = 0, detachedMs = 0 }) => detachedMs - podGoneMs)),
    };
  };
  const [stock, short] = [timesOf(false), timesOf(true)];
  const ofStock = cuts.filter((cut) => cut.plan.remedy === 'eviction' && !isShortened(cut));
  const silent = ofStock.map(({ record: { cutMs = 0, notReadyMs = 0 } }) => notReadyMs - cutMs);
  const next = ofStock.flatMap((cut) =>
    judgedCut(cut).map(({ next: { afterMs = 0 } }) => {
      const { cutMs = 0, remedyMs = 0 } = cut.record;
      return remedyMs - cutMs + afterMs;
    }),
  );
  return `with stock timers the node was not Ready ${spanOf(silent)} after the cut, the pods evicted ${stock.evicted} later, the volumes detached ${stock.detached} after that, and the next pods in ${spanOf(next)} after the cut; with shortened ones ${short.evicted} and ${short.detached}.`;
}

test('tables and times are those of the raw records', async () => {
  const made = filled(read(path), {
    ...{ measured: `\n\n${tables()}\n\n`, stock: stockTimes(), eviction: evictionTimes() },
  });
  await expect(made).toMatchFileSnapshot(join(root, path));
});
