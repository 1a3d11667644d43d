/** What a verdict may not do without, one piece of evidence at a time. */
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { nothingRead } from '../../checkers/evidence.ts';
import type { CertificateRecord, ImageRecord } from '../../history/events.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { tellStory, type Story } from '../../timeline/story.ts';
import { incompleteBecause, nothingTested } from './completeness.ts';
import { Journal } from '../../checkers/journal.ts';
import { Reconciler, type Reconciliation } from '../../checkers/reconcile.ts';
import { mysql } from '../../mysql/database.ts';

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
    tellStory(records, mysql),
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
  expect(reasons([...silent, evicted])).toEqual(['no observer reported csi-call']);
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

/** A run whose fault comes at 10 ms. */
function story(rate: number, balances: Readonly<Record<number, number>> = { 1: 1000 }): Story {
  const evidence = { ...nothingRead(), mounted: true, ledgerComplete: true, balances };
  return tellStory(
    [
      runRecord({ rate }),
      { type: 'image', t: 8, image: 'steady', takenAtMs: 8, evidence },
      {
        type: 'action',
        t: 10,
        actor: 'fault',
        name: 'network-partition',
        step: 'begin',
        node: 'a',
      },
    ],
    mysql,
  );
}

/** What the images say of one commit, or of none. */
function images(ackedAtMs?: number): ReadonlyMap<string, Reconciliation> {
  const journal = new Journal({ faultAtMs: 10, victimNode: 'a' });
  const op = { client: 'inside', connection: 0, session: 0, seq: 0, outcome: 'ok' } as const;
  if (ackedAtMs !== undefined) journal.add({ ...op, endedAtMs: ackedAtMs, server: { node: 'a' } });
  const reconciler = new Reconciler({ journal, seed: 's', takenAtMs: 40 });
  return new Map([['second', reconciler.result()]]);
}

test('clients that wrote before the fault put something to the test', () => {
  expect(nothingTested(story(25), images(5))).toEqual([]);
});

test('no acknowledgement at all, or none before the fault, tests nothing', () => {
  expect(nothingTested(story(25), images())).toHaveLength(1);
  expect(nothingTested(story(25), images(15))).toHaveLength(1);
});

test('since version 3 the schema is changed once, or that was not tested', () => {
  const told = story(25);
  const of = (...more: Story['records']): string[] =>
    nothingTested(
      {
        ...told,
        tells: { ...told.tells, wholeWorkload: true },
        records: [...told.records, ...more],
      },
      images(5),
    );
  expect(of()).toEqual(['no client was asked to change the schema']);
  expect(of({ type: 'schema-change', t: 9, client: 'inside', step: 'asked' })).toEqual([]);
});

test('where nobody writes, what was there before is put to the test', () => {
  expect(nothingTested(story(0), images())).toEqual([]);
  expect(nothingTested(story(0, {}), images())).toHaveLength(1);
});

test('a run without images says that it has none', () => {
  expect(nothingTested(story(25), new Map())).toEqual([]);
});
