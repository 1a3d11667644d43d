import { expect, test } from 'vitest';
import type { Verdict } from '../experiment/verdict/verdict.ts';
import { diskModes } from '../disk-modes/index.ts';
import { diskInWords } from './disk-words.ts';
import { exampleVerdict } from '../../test/support/example-verdict.ts';

test('whose disk is played, and who made the volume, stand in the sentence about the disk', () => {
  const diskFrom = {
    ...{ by: 'trials', driver: 'block.acme.example', version: null, storageClass: 'fast' },
    ...{
      measuredAt: '2026-11-25T03:52:58.989Z',
      kubernetes: 'v1.37.2',
      planHash: 'c82e',
      volumes: 7,
    },
    modes: ['unfenced', 'fence-if-out-of-service'],
  };
  const call = (name: string, t: number, error?: string) => ({
    ...{ call: name, node: 'n', t, durationMs: 1 },
    ...(error === undefined ? {} : { error }),
  });
  const verdict = {
    ...exampleVerdict,
    scenario: { ...exampleVerdict.scenario, disk: 'unfenced', diskFrom },
    provisioning: {
      ...{ storageClass: 'c', claim: 'data', volumeName: 'pvc-1', handle: 'pvc-1', by: 'd' },
      calls: [
        call('CreateVolume', 900, 'busy'),
        call('CreateVolume', 1200),
        call('NodeStageVolume', 2500),
      ],
    },
  };
  const words = diskInWords(verdict);
  expect(words).toContain('driver block.acme.example (version not told), class fast');
  expect(words).toContain('it could as well be fence-if-out-of-service');
  expect(words).toContain('CreateVolume 1.2 s, NodeStageVolume 2.5 s; 1 calls failed before.');
  expect(diskInWords(exampleVerdict)).not.toMatch(/certificate|provisioner/);
});

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
