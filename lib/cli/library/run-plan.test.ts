import { combined, type ScenarioInput, type Settings } from '../../scenario/index.ts';
import { expect, test } from 'vitest';
import { simCapabilities } from '../../sim/model.ts';
import type { Capability } from '../../core/capabilities.ts';
import type { Custom } from '../../run/custom.ts';
import { parseScenario } from '../../scenario/scenario.ts';
import { refuseLacking } from './run-plan.ts';

const refused = { code: 'NOT_ON_THIS_CLUSTER', exitCode: 2 };

type Chosen = Parameters<typeof refuseLacking>[1];
const model: Chosen = { backend: 'sim', capabilities: simCapabilities };
const without = (lacking: string): Chosen => ({
  ...model,
  capabilities: simCapabilities.filter((each) => each !== lacking),
});

const partition: ScenarioInput = {
  ...{ name: 'asked', question: 'Is it refused?', expected: ['safe'] },
  ...{ fault: { kind: 'network-partition' } },
};

test.each<readonly [string, Settings, string, string]>([
  [
    'fence',
    { remedy: { kind: 'fence-first' } },
    '✖ fence-first: it cannot cut a node off',
    'remedy.kind',
  ],
  [
    'storage-link',
    { fault: { link: 'errors' } },
    '✖ errors: it cannot break a node’s way',
    'fault.link',
  ],
  [
    'power-loss',
    { fault: { kind: 'node-crash' } },
    '✖ node-crash: it cannot lose what',
    'fault.kind',
  ],
  [
    'node-freeze',
    { fault: { kind: 'freeze' } },
    '✖ freeze: it cannot hold all processes',
    'fault.kind',
  ],
  [
    'component-stall',
    { also: { kind: 'api-outage' } },
    '✖ api-outage: it cannot hold a part',
    'also.kind',
  ],
  [
    'server-kill',
    { fault: { serverKills: 2 } },
    '✖ 2: it cannot kill the database’s',
    'fault.serverKills',
  ],
  ['drain', { remedy: { kind: 'drain' } }, '✖ drain: it cannot drain a node', 'remedy.kind'],
  [
    'force-detach-wait',
    { timers: { forceDetachAfter: 1000 } },
    '✖ 1s: it',
    'timers.forceDetachAfter',
  ],
])(
  'what needs %s is refused where the cluster lacks it, at its place',
  (needed, more, says, at) => {
    const scenario = parseScenario(combined(partition, more));
    expect(() => refuseLacking(scenario, model)).not.toThrow();
    const said = new RegExp(`^the model cannot play this scenario:\n${says}.*\n  → at ${at}$`);
    expect(() => refuseLacking(scenario, without(needed))).toThrow(
      expect.objectContaining({ ...refused, message: expect.stringMatching(said) }),
    );
  },
);

test('all that is lacking is said at once, of the cluster that lacks it', () => {
  const asked = {
    volume: { provision: 'dynamic' },
    kubernetes: { featureGates: { AllAlpha: true } },
    fault: { link: 'errors' },
  } as const;
  const scenario = parseScenario(combined(partition, asked));
  const message = expect.stringMatching(
    /^the kind cluster cannot [^]*✖ network-partition: [^]*✖ errors: [^]*✖ dynamic: [^]*✖ AllAlpha: /,
  );
  expect(() => refuseLacking(scenario, { backend: 'kind', capabilities: [] })).toThrow(
    expect.objectContaining({ ...refused, message }),
  );
});

test('a part of the caller’s own takes what it says, not what the kind takes that it is like', () => {
  const custom = (needs: readonly Capability[]): Custom => {
    const nothing = (): Promise<void> => Promise.resolve();
    const own = { name: 'own', leastMs: 0, inject: nothing, heal: nothing };
    return { fault: { ...own, like: 'network-partition', needs } };
  };
  const bare: Chosen = { backend: 'vm', capabilities: ['drain'] };
  const scenario = parseScenario(partition);
  expect(() => refuseLacking(scenario, bare, custom(['drain']))).not.toThrow();
  const message = expect.stringMatching(/^vm cannot play [^]*✖ own: .* \(node-freeze\)\n/);
  expect(() => refuseLacking(scenario, bare, custom(['drain', 'node-freeze']))).toThrow(
    expect.objectContaining({ ...refused, message }),
  );
});
