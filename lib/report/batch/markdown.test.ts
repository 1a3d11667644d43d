import { expect, test } from 'vitest';
import type { Batch, BatchCell } from '../../batch/batch.ts';
import { exampleBatch } from '../../../test/support/example-batch.ts';
import { wilson } from '../../core/numbers.ts';
import { comparePairs } from '../../batch/summarize.ts';
import { exampleCell } from '../../../test/support/example-cell.ts';
import { batchHeadlineOf } from './markdown.ts';

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

test('a batch that proves nothing has no finding', () => {
  const cells = [cell('force-delete', 'fenced', 'safe')];
  const inconclusiveBecause = ['a control failed'];
  expect(batchHeadlineOf({ ...batchOf(cells), inconclusiveBecause })).toBe(
    'This batch proves nothing',
  );
});
