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

test('where that tells nothing, or too much for a headline, it counts', () => {
  const safe = [cell('force-delete', 'fenced', 'safe'), cell('out-of-service', 'fenced', 'safe')];
  expect(batchHeadlineOf(batchOf(safe))).toBe('all of 2 cells safe');
  const labels = ['one', 'two', 'three', 'four'].map((name) => `a case of ${name}`);
  const cells = labels.map((label, index) => ({
    ...exampleCell(label, index === 3 ? 'safe' : 'lost', 0),
    place: { case: label },
  }));
  expect(batchHeadlineOf(exampleBatch({ axes: [{ name: 'case', labels }], cells }))).toBe(
    '3 of 4 cells lost, 1 safe',
  );
});

test('of a lone cell the headline says in how many fault events it came to that', () => {
  const unfenced = cell('force-delete', 'unfenced', 'corrupt');
  const lone = {
    ...unfenced,
    verdicts: { ...unfenced.verdicts, corrupt: 7, lost: 1, inconclusive: 2 },
  };
  expect(batchHeadlineOf(batchOf([lone]))).toBe('corrupt in 7 of 8 fault events');
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

test('a label with commas is one label', () => {
  const labels = ['idle, stalls', 'sidecar, read-only', 'late'];
  const cells = labels.map((label, index) => ({
    ...exampleCell(label, index === 0 ? 'corrupt' : 'safe', 0),
    place: { case: label },
  }));
  const axes = [{ name: 'case', labels }];
  const batch = exampleBatch({ axes, cells, ...comparePairs({ axes, cells }) });
  const [first] = pairFindings(batch);
  expect(first?.text).toMatch(
    /^Changing only case from “sidecar, read-only” or late to “idle, stalls” turned /,
  );
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

test('a change that did nothing elsewhere says so', () => {
  const found = pairFindings(
    batchOf([
      cell('force-delete', 'unfenced', 'corrupt'),
      cell('out-of-service', 'unfenced', 'safe'),
      cell('force-delete', 'fenced', 'safe'),
      cell('out-of-service', 'fenced', 'safe'),
    ]),
  );
  expect(found.map(({ text }) => text)).toContain(
    'Changing only remedy from out-of-service to force-delete turned safe into corrupt in 1 of 2 ' +
      'pairs (damaged: 0 of 3 fault events before, 3 of 3 after)',
  );
});
