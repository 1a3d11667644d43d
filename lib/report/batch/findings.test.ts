import { expect, test } from 'vitest';
import type { Batch, BatchCell } from '../../matrix/batch.ts';
import { exampleBatch } from '../../../test/support/example-batch.ts';
import { wilson } from '../../intervals.ts';
import { comparePairs } from '../../matrix/pairs.ts';
import { exampleCell } from '../../../test/support/example-cell.ts';
import { batchHeadlineOf, pairFindings } from './findings.ts';

const axes: Batch['axes'] = [
  { name: 'remedy', labels: ['force-delete', 'out-of-service'] },
  { name: 'disk', labels: ['unfenced', 'fenced'] },
];

const cell = (remedy: string, disk: string, verdict: BatchCell['verdict']): BatchCell => {
  const isDamaged = verdict === 'lost' || verdict === 'corrupt';
  const damaged = isDamaged ? 3 : 0;
  return {
    ...exampleCell(`${remedy} ${disk}`, verdict, damaged),
    place: { remedy, disk },
    damaged: { count: damaged, of: 3, ...wilson(damaged, 3) },
  };
};

const batchOf = (cells: BatchCell[]): Batch =>
  exampleBatch({ axes, cells, ...comparePairs({ axes, cells }) });

test('the headline says with what it is worst, the worst first', () => {
  const cells = [
    cell('force-delete', 'unfenced', 'corrupt'),
    cell('out-of-service', 'unfenced', 'exposed'),
    cell('force-delete', 'fenced', 'safe'),
    cell('out-of-service', 'fenced', 'safe'),
  ];
  expect(batchHeadlineOf(batchOf(cells))).toBe('Corrupt with unfenced, safe with fenced');
});

test('a batch that proves nothing has no finding', () => {
  const cells = [cell('force-delete', 'fenced', 'safe')];
  const inconclusiveBecause = ['a control failed'];
  expect(batchHeadlineOf({ ...batchOf(cells), inconclusiveBecause })).toBe(
    'This batch proves nothing',
  );
});

test('what is worse than several others in the same way is said once', () => {
  const axis = { name: 'disk', labels: ['unfenced', 'fenced', 'exclusive', 'reservation'] };
  const cells = axis.labels.map((label) =>
    cell('force-delete', label, label === 'unfenced' ? 'corrupt' : 'safe'),
  );
  const batch = exampleBatch({ axes: [axis], cells, ...comparePairs({ axes: [axis], cells }) });
  expect(pairFindings(batch).map(({ text }) => text)).toEqual([
    'Changing only disk from fenced, exclusive or reservation to unfenced turned safe into ' +
      'corrupt in 3 of 3 pairs',
  ]);
});

test('a change that does the same in more pairs comes first, told from the better to the worse', () => {
  const found = pairFindings(
    batchOf([
      cell('force-delete', 'unfenced', 'corrupt'),
      cell('out-of-service', 'unfenced', 'corrupt'),
      cell('force-delete', 'fenced', 'safe'),
      cell('out-of-service', 'fenced', 'safe'),
    ]),
  );
  expect(found.map(({ text }) => text)).toEqual([
    'Changing only disk from fenced to unfenced turned safe into corrupt in 2 of 2 pairs',
  ]);
});
