/**
 * What the trials said of a stranger's classes, judged again from the raw records: each class against
 * what its driver was made to do, which the trials were not told.
 */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { judgeTrials } from './measured.ts';
import { driverVersions, wholeCertificates } from '../../../scripts/driver-files.ts';
import {
  faultyClasses,
  strangerClasses,
  strangerNames,
} from '../../../test/support/stranger-objects.ts';

const root = fileURLToPath(new URL('../../../test/fixtures/certificates/', import.meta.url));
const certificates = driverVersions(root)
  .filter(({ driver }) => driver === strangerNames.disk)
  .flatMap(({ driver, version }) => wholeCertificates(root, driver, version));

test('there are some of each class that can be tried', () => {
  const names = new Set(certificates.map(({ storageClass }) => storageClass.name));
  const { halite: _, ...tried } = strangerClasses;
  expect([...names].toSorted()).toEqual(expect.arrayContaining(Object.keys(tried)));
});

test.each(
  certificates.map((each) => [each.storageClass.name, each.plan.volumeMode, each] as const),
)(
  '%s, %s: the truth is among what agrees, and a single answer is it; a liar is of no mode',
  (name, _, { trials, plan }) => {
    const truth = strangerClasses[name]?.['detachMode'];
    const again = judgeTrials(trials, plan).answer;
    if (truth === undefined) {
      expect(faultyClasses).toHaveProperty(name);
      expect(again.modes).toEqual([]);
      return;
    }
    expect(again.modes).toContain(truth);
    if (again.mode !== undefined) expect(again.mode).toBe(truth);
  },
);
