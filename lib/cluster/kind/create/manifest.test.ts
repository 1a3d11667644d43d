import { expect, test } from 'vitest';
import { InfrastructureError } from '../../../errors.ts';
import { fillManifest } from '../objects.ts';

test('a name without a value is an error, but not in a comment', () => {
  expect(() => fillManifest('kind: ${KIND}', {})).toThrow(InfrastructureError);
  expect(fillManifest('# ${NAMES}\nkind: Pod', {})).toEqual([{ kind: 'Pod' }]);
});

test('a value may be a whole object', () => {
  const template = JSON.stringify({ spec: { args: ['--host=$(NODE_NAME)', 'a: b # c'] } });
  expect(fillManifest('template: ${T}', { T: template })).toEqual([
    { template: { spec: { args: ['--host=$(NODE_NAME)', 'a: b # c'] } } },
  ]);
});
