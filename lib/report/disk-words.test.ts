import { expect, test } from 'vitest';
import type { Verdict } from '../judge/verdict/verdict.ts';
import { diskModes } from '../scenario/disks/index.ts';
import { diskInWords } from './wording.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';

const withDisk = (fields: Record<string, unknown>): Verdict => ({
  ...exampleVerdict,
  scenario: { ...exampleVerdict.scenario, ...fields },
});

test('every mode of disk has words, also in a verdict of an older version', () => {
  for (const disk of diskModes) {
    expect(diskInWords(withDisk({ disk }))).toContain(`Disk ${disk} (`);
  }
  const { link: _link, accessMode: _accessMode, ...older } = exampleVerdict.scenario;
  expect(diskInWords({ ...exampleVerdict, scenario: older })).toContain('ReadWriteOnce');
});
