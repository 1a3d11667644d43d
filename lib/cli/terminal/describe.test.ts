/** What a run says before it begins must be what its end holds it against. */
import { expect, test } from 'vitest';
import { describeRequest } from './describe.ts';
import { readFlags } from '../../../test/support/read-flags.ts';
import { requestOf } from '../flags/request.ts';
import { theModel } from '../../library/backend.ts';

const onModel = theModel('asked for');
const definition = { name: 'probe', question: 'Is it lost?', fault: 'network-partition' } as const;

function linesOf(counted: Record<string, number> | undefined): string {
  const request = requestOf(
    { ...definition, expected: ['lost', 'corrupt'] },
    readFlags([]),
    new Date(0),
  );
  if (request === undefined) throw new Error('help was printed');
  return describeRequest({ ...request, scenario: { ...request.scenario, counted } }, onModel);
}

test('what is expected is said, and of a race counted too rarely that nothing is', () => {
  expect(linesOf(undefined)).toContain('expected: lost or corrupt');
  const rare = linesOf({ corrupt: 2 });
  expect(rare).toContain('no baseline, too few: corrupt in 2 of 2 fault events');
  expect(rare).not.toContain('expected: lost');
  expect(linesOf({ corrupt: 20 })).toContain('expected: lost or corrupt');
});

test('an experiment without a fault begins, too: its remedy has a time, and no event', () => {
  const healthy = { name: 'healthy', question: 'Why?', fault: 'none' } as const;
  const remedy = { kind: 'out-of-service', at: '0s' } as const;
  const request = requestOf({ ...healthy, remedy, expected: ['safe'] }, readFlags([]), new Date(0));
  if (request === undefined) throw new Error('help was printed');
  expect(describeRequest(request, onModel)).toContain('fault none, remedy out-of-service');
});
