/** What a verdict may not do without, one piece of evidence at a time. */
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { nothingRead } from '../../checkers/evidence.ts';
import type { CertificateRecord, ImageRecord } from '../../history/events.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { tellStory } from '../../timeline/story.ts';
import { incompleteBecause } from './completeness.ts';

const certificate: CertificateRecord = {
  type: 'certificate',
  t: 20,
  fault: 'network-partition',
  moment: 'during',
  claim: 'the victim does not reach the API server',
  holds: true,
  evidence: 'asked',
};

const image = (label: ImageRecord['image'], t: number): ImageRecord => ({
  type: 'image',
  t,
  image: label,
  takenAtMs: t,
  evidence: { ...nothingRead(), mounted: true, ledgerComplete: true },
});

const whole: readonly SmallRecord[] = [
  runRecord(),
  ...[observed.nodeReady, observed.mounted, observed.csiCall, observed.deviceWritten].map(
    (name) => ({ type: 'observation', t: 5, source: 'test', name, node: 'a', data: {} }) as const,
  ),
  image('steady', 8),
  { type: 'action', t: 10, actor: 'fault', name: 'network-partition', step: 'begin', node: 'a' },
  certificate,
  image('first', 30),
  image('second', 40),
];
const evicted = see(25, observed.podTerminating, 'a');

const reasons = (records: readonly SmallRecord[]): string[] =>
  incompleteBecause(
    tellStory(records),
    records.filter((record) => record.type === 'certificate'),
    [],
  );

test('a whole run lacks nothing', () => {
  expect(reasons(whole)).toEqual([]);
});

test.each(whole.filter(({ type }) => type !== 'run').map((record) => [record]))(
  'without %o the run is incomplete',
  (missing) => {
    expect(reasons([...whole.filter((record) => record !== missing), evicted])).not.toEqual([]);
  },
);

test('where nobody ended the pod, no driver was asked for anything', () => {
  const silent = whole.filter((record) => !('name' in record && record.name === observed.csiCall));
  expect(reasons(silent)).toEqual([]);
  expect(reasons([...silent, evicted])).toEqual(['no observer ever saw csi-call']);
});

test('an error, a failed step, a certificate that fails and a late machine are each a reason', () => {
  const troubles: SmallRecord[] = [
    { type: 'error', t: 50, where: 'heal', message: 'no engine' },
    { type: 'action', t: 50, actor: 'remedy', name: 'force-delete', step: 'failed' },
    { ...certificate, t: 50, holds: false },
    { type: 'machine', t: 35, timerLagMs: 5000 },
  ];
  for (const trouble of troubles) expect(reasons([...whole, trouble])).toHaveLength(1);
});

test('a machine may be late before the fault, and once the second image is being copied', () => {
  const late = (t: number): SmallRecord => ({ type: 'machine', t, timerLagMs: 5000 });
  const copied: SmallRecord = { type: 'phase', t: 36, phase: 'second-image' };
  expect(reasons([...whole, late(9), copied, late(36)])).toEqual([]);
  expect(reasons([...whole, late(10), copied])).toHaveLength(1);
});

test('what ended the run is said first', () => {
  const error: SmallRecord = { type: 'error', t: 9, where: 'run', message: 'INTERRUPTED' };
  expect(reasons([...whole.slice(0, 5), error])[0]).toBe('run: INTERRUPTED');
});

test('what an observer says at each of its looks is one reason, with how often', () => {
  const error: SmallRecord = { type: 'error', t: 22, where: 'observe-disk', message: 'no array' };
  expect(reasons([...whole, error, error, error])).toEqual(['observe-disk: no array (3 times)']);
});
