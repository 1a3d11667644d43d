import { expect, test } from 'vitest';
import { kindCapabilities } from '../cluster/kind/capabilities.ts';
import { simCapabilities } from '../cluster/sim/capabilities.ts';
import { parseScenario } from '../experiment/scenario.ts';
import { refuseInBatch, refuseLacking } from './refusals.ts';

const without = (lacking: string) => simCapabilities.filter((each) => each !== lacking);

const partition = {
  ...{ name: 'asked', question: 'Is it refused?', expected: ['safe'] },
  ...{ fault: 'network-partition', remedy: 'none' },
};

test.each([
  ['fence', { remedy: 'fence-first' }, 'cut a node off: remedy fence-first'],
  ['storage-link', { link: 'errors' }, 'break one node’s way to it: link errors'],
  ['power-loss', { fault: 'node-crash' }, 'lose what was not flushed: fault node-crash'],
])('what needs %s is refused where the storage lacks it', (needed, more, says) => {
  const scenario = parseScenario({ ...partition, ...more });
  expect(() => refuseLacking(scenario, simCapabilities)).not.toThrow();
  expect(() => refuseLacking(scenario, without(needed))).toThrow(
    expect.objectContaining({ code: 'STORAGE_CANNOT', message: expect.stringContaining(says) }),
  );
});

test('a group is refused on the model and in a batch, and not on kind', () => {
  const alone = parseScenario(partition);
  const group = parseScenario({ ...partition, database: 'group-replication' });
  const code = (name: string) => expect.objectContaining({ code: name });
  expect(() => refuseLacking(group, kindCapabilities('published'))).not.toThrow();
  expect(() => refuseLacking(group, simCapabilities)).toThrow(code('GROUP_NOT_MODELLED'));
  expect(() => refuseInBatch(group)).toThrow(code('GROUP_IN_BATCH'));
  expect(() => refuseInBatch(alone)).not.toThrow();
});
