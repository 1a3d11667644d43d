/**
 * What three cuts said of a stranger's classes, judged again from the raw records: each against what its
 * driver was made to do, which the cuts were not told. The two remedies together leave one mode, or two
 * that trials on healthy nodes tell apart.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { strangerClasses } from '../../cluster/kind/stranger-objects.ts';
import { planHash } from '../plan.ts';
import { cutsIn } from '../published/driver-file.ts';
import { readCutCertificate } from '../published/cut-rows.ts';
import type { CutCertificate } from './certificate.ts';
import { classifyCut, modesOf } from './classify.ts';

const root = fileURLToPath(new URL('../../../certificates/', import.meta.url));
const cuts = cutsIn(root, 'block.acme.example', 'dac05a0c7485').map(({ name, text }) => ({
  name,
  cut: readCutCertificate(text),
}));

test('three cuts of seven classes', () => {
  expect(cuts.map(({ cut }) => cut.findings.length)).toEqual([7, 7, 7]);
});

const again = ({ record, plan }: CutCertificate) =>
  record.volumes.map((volume) => classifyCut(record, volume, plan.remedy));

test.each(cuts)('$name: no answer is wrong, and none undecided', ({ cut }) => {
  expect(again(cut)).toEqual(cut.findings);
  for (const { storageClass, modes } of cut.findings) {
    expect(modes, storageClass).toContain(strangerClasses[storageClass]?.['detachMode']);
  }
  expect(cut.planHash).toBe(planHash(cut.plan));
  expect(cut.record.checked).toBe(true);
});

test.each(Object.entries(strangerClasses).filter(([name]) => name !== 'halite'))(
  '%s: force-delete and taint together',
  (name, { detachMode }) => {
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
