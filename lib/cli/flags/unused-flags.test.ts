/** Who asks for images or for a cluster and gets the model is told that these flags did nothing. */
import { expect, test } from 'vitest';
import { theModel } from '../../library/backend.ts';
import { parseArguments } from '../command.ts';
import { describeBatch } from '../terminal/describe-batch.ts';
import { describeRequest } from '../terminal/describe.ts';
import { batchPlanOf } from '../../matrix/batch-plan.ts';
import { cellsOf } from '../../matrix/cells.ts';
import { parseMatrix } from '../../matrix/matrix-schema.ts';
import { matrixCommand, type MatrixFlags } from './matrix-flags.ts';
import { readFlags } from '../../../test/support/read-flags.ts';
import { requestOf } from './request.ts';

const definition = { name: 'probe', question: 'Is it lost?', fault: 'network-partition' } as const;
const onModel = theModel('no Docker engine answers');
const onKind = { ...onModel, images: { source: 'built', reason: 'images: built here' } } as const;

const told = (text: string): string | undefined => /^the model does not use .*$/m.exec(text)?.[0];

test.each([
  ['--images built --registry r:5000', 'the model does not use --images, --registry'],
  ['--keep --cluster-name other', 'the model does not use --cluster-name, --keep'],
  ['--images auto --cluster-name main --workers 4', undefined],
  ['', undefined],
])('an experiment with `%s`', (words, line) => {
  const request = requestOf(definition, readFlags(words.split(' ').filter(Boolean)), new Date(0));
  if (request === undefined) throw new Error('help was printed');
  expect(told(describeRequest(request, onModel))).toBe(line);
  expect(told(describeRequest(request, onModel, { all: true }))).toBe(line);
  expect(told(describeRequest(request, onKind))).toBeUndefined();
});

const matrix = parseMatrix('{ name: a, question: b, axes: { fault: [freeze] } }', 'a.yaml');
const plan = batchPlanOf(matrix, cellsOf(matrix), 'seed');

test.each([
  [
    '--images published --pools 2 --cluster-names a,b',
    'the model does not use --cluster-names, --images, --pools',
  ],
  ['--keep --registry r:5000', 'the model does not use --registry, --keep'],
  ['--pools 1 --images auto --volumes 3', undefined],
])('a batch with `%s`', (words, line) => {
  const flags = parseArguments(matrixCommand(), words.split(' ')).opts<MatrixFlags>();
  const about = { plan, folder: 'reports/a', flags, slots: [] };
  expect(told(describeBatch({ ...about, choice: onModel }, 'replay'))).toBe(line);
  expect(told(describeBatch({ ...about, choice: onKind }, 'replay'))).toBeUndefined();
});
