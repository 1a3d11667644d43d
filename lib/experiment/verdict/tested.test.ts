import { expect, test } from 'vitest';
import { runRecord } from '../../../test/support/run-record.ts';
import { nothingRead } from '../../checkers/evidence.ts';
import { Journal } from '../../checkers/journal.ts';
import { Reconciler, type Reconciliation } from '../../checkers/reconcile.ts';
import { tellStory, type Story } from '../../timeline/story.ts';
import { nothingTested } from '../evidence/completeness.ts';

/** A run whose fault comes at 10 ms. */
function story(rate: number, balances: Readonly<Record<number, number>> = { 1: 1000 }): Story {
  const evidence = { ...nothingRead(), mounted: true, ledgerComplete: true, balances };
  return tellStory([
    runRecord({ rate }),
    { type: 'image', t: 8, image: 'steady', takenAtMs: 8, evidence },
    { type: 'action', t: 10, actor: 'fault', name: 'network-partition', step: 'begin', node: 'a' },
  ]);
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
