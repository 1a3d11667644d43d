/**
 * What cuts said of a stranger's classes, judged again from the raw records: each against what its driver
 * was made to do, which the cuts were not told. The two remedies together leave one mode, or two that
 * trials on healthy nodes tell apart; a driver that lies or hangs is of none.
 */
import { type CutCertificate, readCutCertificate } from '../certificate.ts';
import { type CutFinding, classifyCut, modesOf } from './cut.ts';
import { planHash } from '../plan.ts';
import { cutsIn, driverVersions } from '../../../scripts/driver-files.ts';
import {
  faultyClasses,
  strangerClasses,
  strangerNames,
} from '../../../test/support/stranger-objects.ts';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../test/fixtures/certificates/', import.meta.url));
const cuts = driverVersions(root)
  .filter(({ driver }) => driver === strangerNames.disk)
  .flatMap(({ driver, version }) => cutsIn(root, driver, version))
  .map(({ name, text }) => ({ name, cut: readCutCertificate(text) }));

const again = ({ record, plan }: CutCertificate): CutFinding[] =>
  record.volumes.map((volume) => classifyCut(record, volume, plan.remedy));
const isFaulty = (name: string): boolean => name in faultyClasses;
/** Of cuts before the hand-over was waited for: what it would have shown is open. */
const notAsked = /^nobody waited to see whether another node ever has it/;

test('cuts of both kinds of volume, and drivers that lie under both remedies', () => {
  expect(new Set(cuts.map(({ cut }) => cut.plan.volumeMode)).size).toBe(2);
  const faulty = cuts.filter(({ cut }) => cut.plan.classes.some(isFaulty));
  expect(new Set(faulty.map(({ cut }) => cut.plan.remedy)).size).toBe(2);
});

test('one of them with stock timers, of every class that can be attached', () => {
  const { halite: _, ...attachable } = strangerClasses;
  const isStock = ({ cut }: (typeof cuts)[number]): boolean =>
    cut.timers.every((timer) => !timer.includes('node-monitor-grace-period'));
  const stock = cuts.filter(isStock).map(({ cut }) => cut.plan.classes);
  expect(stock).toContainEqual(Object.keys(attachable));
});

test.each(cuts)('$name: no answer is wrong', ({ cut }) => {
  for (const { storageClass, modes, why } of again(cut)) {
    const truth = strangerClasses[storageClass]?.['detachMode'];
    if (isFaulty(storageClass) || notAsked.test(why)) expect(modes, storageClass).toEqual([]);
    else expect(modes, storageClass).toContain(truth);
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
    if (isFaulty(name)) expect(left).toBeUndefined();
    // A cut some seconds after the detach: which of the two it was, trials on healthy nodes tell.
    else if (name === 'flint') expect(left).toEqual(both);
    else expect(left).toEqual([detachMode]);
  },
);
