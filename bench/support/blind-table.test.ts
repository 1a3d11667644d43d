import { expect, test } from 'vitest';
import { trialOf, nextIn, nextOut } from '../../test/support/probe-trial.ts';
import type { Certificate, PredictionReport } from '../../lib/probe/certificate.ts';
import type { TrialRecord } from '../../lib/probe/judge/record.ts';
import { strangerClasses } from '../../test/support/stranger-objects.ts';
import { committedRecords } from '../probe.ts';
import { blindTable, type BlindRow } from './blind-table.ts';

const certificate = (name: string, trials: readonly TrialRecord[]): Certificate =>
  ({ storageClass: { name }, plan: { volumeMode: 'Block' }, trials }) as unknown as Certificate;

const fenced = [
  trialOf({ cutMs: 150 }),
  trialOf({ cutMs: 150, variant: 'contested' }, nextIn(61_000)),
];
const barred = nextOut('FailedAttachVolume', 'Volume is already used by pod(s) a');
const pending = [
  trialOf({ goneMs: Infinity }),
  trialOf({ goneMs: Infinity, variant: 'contested' }, barred),
];

function rowOf(name: string, trials: readonly TrialRecord[]): BlindRow | undefined {
  const certificates = [certificate(name, trials)];
  return blindTable({ certificates, cuts: [], answers: [] }).rows[0];
}

test.each([
  ['basalt', fenced, ['fenced'], 'right'],
  ['amber', fenced, ['fenced'], 'wrong'],
  ['amber', [], [], 'undecided'],
  ['jasper', [], [], 'right'],
  ['kyanite', pending, ['pending-while-busy'], 'wrong'],
] as const)('%s', (name, trials, answer, is) => {
  expect(rowOf(name, trials)).toMatchObject({ answer, is, trials: trials.length });
});

test.each([
  ['halite', 'NO_ATTACHMENTS: never attached', 'right'],
  ['quartz', 'LOCAL_VOLUMES: of one node', 'right'],
  ['opal', undefined, 'wrong'],
] as const)('a class that is refused: %s', (storageClass, refusal, is) => {
  const answer = { storageClass, refusal } as unknown as PredictionReport;
  const { rows, wrong } = blindTable({ certificates: [], cuts: [], answers: [answer] });
  expect(rows).toMatchObject([{ storageClass, is }]);
  expect(wrong).toBe(is === 'wrong' ? 1 : 0);
});

test('of what was measured nothing is wrong or undecided, and each class is there', () => {
  const { rows } = blindTable(committedRecords());
  expect(rows.filter(({ is }) => is !== 'right')).toEqual([]);
  const names = rows.map(({ storageClass }) => storageClass);
  expect(names).toEqual(expect.arrayContaining(Object.keys(strangerClasses)));
});
