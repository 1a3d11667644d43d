/** Who asks for images or for a cluster and gets the model is told that these flags did nothing. */
import { expect, test } from 'vitest';
import { theModel } from '../library/backend.ts';
import { describeRequest } from '../commands/experiment.ts';
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
  expect(told(describeRequest(request, onKind))).toBeUndefined();
});
