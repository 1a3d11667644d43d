import { expect, test } from 'vitest';
import { kindCapabilities } from '../cluster/kind/capabilities.ts';
import { simCapabilities } from '../cluster/sim/capabilities.ts';
import { parseScenario } from '../experiment/scenario.ts';
import { refuseInBatch, refuseLacking } from './refusals.ts';

type Chosen = Parameters<typeof refuseLacking>[1];
const model: Chosen = { backend: 'sim', capabilities: simCapabilities };
const without = (lacking: string): Chosen => ({
  ...model,
  capabilities: simCapabilities.filter((each) => each !== lacking),
});

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
  expect(() => refuseLacking(scenario, model)).not.toThrow();
  expect(() => refuseLacking(scenario, without(needed))).toThrow(
    expect.objectContaining({ code: 'STORAGE_CANNOT', message: expect.stringContaining(says) }),
  );
});

test('a group is refused on the model and in a batch, and not on kind', () => {
  const alone = parseScenario(partition);
  const group = parseScenario({ ...partition, database: 'group-replication' });
  const code = (name: string) => expect.objectContaining({ code: name });
  expect(() =>
    refuseLacking(group, { backend: 'kind', capabilities: kindCapabilities('published') }),
  ).not.toThrow();
  expect(() => refuseLacking(group, { backend: 'sim', capabilities: simCapabilities })).toThrow(
    code('GROUP_LACKING'),
  );
  expect(() => refuseInBatch(group)).toThrow(code('GROUP_IN_BATCH'));
  expect(() => refuseInBatch(alone)).not.toThrow();
});

test.each<readonly [Chosen['backend'], string]>([
  ['sim', 'the model'],
  ['kind', 'the kind cluster'],
])('what is lacking is said of the cluster that lacks it: %s', (backend, cluster) => {
  const bare: Chosen = { backend, capabilities: [] };
  const refused = (more: object, code: string, what: string): void =>
    expect(() => refuseLacking(parseScenario({ ...partition, ...more }), bare)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(`${cluster} ${what}`) }),
    );
  refused({ provision: 'dynamic' }, 'PROVISIONER_LACKING', 'has no provisioner');
  refused({ featureGates: { AllAlpha: true } }, 'GATE_LACKING', 'has no feature gate AllAlpha');
  refused({ link: 'errors' }, 'STORAGE_CANNOT', 'cannot break');
});
