/**
 * What three cuts said of a stranger's classes, judged again from the raw records: each against what its
 * driver was made to do, which the cuts were not told. The two remedies together leave one mode, or two
 * that trials on healthy nodes tell apart.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { strangerClasses, strangerNames } from '../../cluster/kind/stranger-objects.ts';
import { planHash } from '../plan.ts';
import { cutsIn, driverVersions } from '../published/driver-file.ts';
import { readCutCertificate } from '../published/cut-rows.ts';
import type { CutCertificate } from './certificate.ts';
import { classifyCut, type CutFinding, modesOf } from './classify.ts';

const root = fileURLToPath(new URL('../../../certificates/', import.meta.url));
const cuts = driverVersions(root)
  .filter(({ driver }) => driver === strangerNames.disk)
  .flatMap(({ driver, version }) => cutsIn(root, driver, version))
  .map(({ name, text }) => ({ name, cut: readCutCertificate(text) }));

test('three cuts and more, each of seven classes', () => {
  expect(cuts.length).toBeGreaterThanOrEqual(3);
  for (const { cut } of cuts) expect(cut.findings).toHaveLength(7);
});

/** What an answer rests on: how the next pod is told of has changed since. */
const essence = ({ storageClass, outcome, modes }: CutFinding) => ({
  storageClass,
  outcome,
  modes,
});
const again = ({ record, plan }: CutCertificate) =>
  record.volumes.map((volume) => classifyCut(record, volume, plan.remedy));

test.each(cuts)('$name: no answer is wrong, and none undecided', ({ cut }) => {
  expect(again(cut).map(essence)).toEqual(cut.findings.map(essence));
  for (const { storageClass, modes } of cut.findings) {
    expect(modes, storageClass).toContain(strangerClasses[storageClass]?.['detachMode']);
  }
  expect(cut.planHash).toBe(planHash(cut.plan));
  expect(cut.record.checked).toBe(true);
});

test.each([...new Set(cuts.flatMap(({ cut }) => cut.plan.classes))])(
  '%s: force-delete and taint together',
  (name) => {
    const { detachMode } = strangerClasses[name] ?? {};
    const found = cuts
      .flatMap(({ cut }) => again(cut))
      .filter((each) => each.storageClass === name);
    const both = ['reservation', 'ack-early'];
    const left = modesOf(found);
    // A cut some seconds after the detach: which of the two it was, trials on healthy nodes tell.
    if (name === 'flint') expect(left).toEqual(both);
    else expect(left).toEqual([detachMode]);
  },
);
