import { combined } from '../scenario/fields.ts';
import { expect, test } from 'vitest';
import type { Verdict } from '../judge/verdict/verdict.ts';
import { diskModes } from '../scenario/disks/index.ts';
import { diskInWords } from './wording.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';

const withDisk = (fields: Record<string, unknown>): Verdict => ({
  ...exampleVerdict,
  scenario: combined(exampleVerdict.scenario, fields),
});

test('every mode of disk has words, also in a verdict of an older version', () => {
  for (const disk of diskModes) {
    expect(diskInWords(withDisk({ disk: { mode: disk } }))).toContain(`Disk ${disk} (`);
  }
  const { volume: _, ...older } = exampleVerdict.scenario;
  expect(
    diskInWords({ ...exampleVerdict, scenario: older as typeof exampleVerdict.scenario }),
  ).toContain('ReadWriteOnce');
});
