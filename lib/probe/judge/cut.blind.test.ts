/**
 * Cuts of a stranger's classes, each judged again by itself: against what its driver was made to do, which the
 * cuts were not told. All trials and cuts of a class together: bench/support/blind-table.test.ts.
 */
import { expect, test } from 'vitest';
import { committedRecords } from '../../../bench/probe.ts';
import { faultyClasses, strangerClasses } from '../../../test/support/stranger-objects.ts';
import { classifyCut } from './cut.ts';
import { planHash } from '../plan.ts';

const { cuts } = committedRecords();
const isFaulty = (name: string): boolean => name in faultyClasses;
/** Of cuts before the hand-over was waited for: what it would have shown is open. */
const notAsked = /^nobody waited to see whether another node ever has it/;

test('cuts of both kinds of volume, drivers that lie under both remedies, stock timers', () => {
  expect(new Set(cuts.map(({ plan }) => plan.volumeMode)).size).toBe(2);
  const faulty = cuts.filter(({ plan }) => plan.classes.some(isFaulty));
  expect(new Set(faulty.map(({ plan }) => plan.remedy)).size).toBe(2);
  const { halite: _, ...attachable } = strangerClasses;
  const stock = cuts.filter(({ timers }) => !timers.join().includes('node-monitor-grace-period'));
  expect(stock.map(({ plan }) => plan.classes)).toContainEqual(Object.keys(attachable));
});

const volumes = cuts.flatMap(({ record, plan, ...cut }) =>
  record.volumes.map((volume) => ({ volume, record, plan, hash: cut.planHash })),
);

test.each(volumes)('$plan.remedy, $volume.storageClass', ({ volume, record, plan, hash }) => {
  const { storageClass } = volume;
  const { outcome, modes, why, storagePath: path } = classifyCut(record, volume, plan);
  if (isFaulty(storageClass) || notAsked.test(why)) expect(modes).toEqual([]);
  else expect(modes).toContain(strangerClasses[storageClass]?.['detachMode']);
  // A mode rests on a path that survived.
  if (modes.length > 0) expect(path).toBe('survived');
  expect(path === 'cut').toBe(outcome === 'path-cut');
  expect([hash, record.checked]).toEqual([planHash(plan), true]);
});
