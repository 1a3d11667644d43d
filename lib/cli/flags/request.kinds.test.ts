/** A flag beside a kind that it does nothing with, and one that brings another kind. */
import { expect, test } from 'vitest';
import type { Scenario } from '../../experiment/scenario.ts';
import { readFlags } from '../../../test/support/read-flags.ts';
import { requestOf, type ExperimentDefinition } from './request.ts';

const now = new Date(0);
const definition: ExperimentDefinition = {
  name: 'network-partition',
  fault: 'network-partition',
  remedy: 'force-delete',
};

test('a flag that names another kind takes with it what only the experiment’s own had', () => {
  const tainting = {
    ...definition,
    remedy: { kind: 'out-of-service', untaintAt: 'heal' },
  } as const;
  const { scenario } = requestOf(tainting, readFlags(['--remedy', 'none']), now);
  expect(scenario).toMatchObject({ remedy: 'none', untaintAt: 'end' });
});

const groupDefinition = { ...{ name: 'three', question: 'Own?' }, fault: 'freeze' } as const;

test('another database is another experiment, with what goes with it', () => {
  const asked = (words: string, written: Partial<ExperimentDefinition> = {}): Scenario => {
    return requestOf({ ...groupDefinition, ...written }, readFlags(words.split(' ')), now).scenario;
  };
  const own = asked('--majority-timeout 10s', { database: 'group-replication' });
  expect(own).toMatchObject({ name: 'three', question: 'Own?', majorityTimeoutS: 10 });
  // Its own words are for one server.
  const other = asked('--database group-replication', { remedy: 'force-delete', disk: 'fenced' });
  expect(other).toMatchObject({ name: 'group-replication', fault: 'freeze', remedy: 'none' });
  expect(other).toMatchObject({ disk: 'unfenced', expected: ['safe'] });
  const crashed = asked('--fault=node-crash', { database: 'group-replication' });
  expect(crashed).toMatchObject({ name: 'group-replication', database: 'group-replication' });
  const single = asked('--database single-server', { database: 'group-replication' });
  expect(single).toMatchObject({ name: 'freeze', fault: 'freeze' });
  expect(single).not.toHaveProperty('database');
  const refused = (): Scenario => asked('--fault api-outage', { database: 'group-replication' });
  expect(refused).toThrow('Allowed choices are network-partition, node-crash, freeze.');
});

test('with another fault its own flags count, and what only the old one had is gone', () => {
  const crash = { ...definition, fault: { kind: 'node-crash', powerLoss: 'drops' } } as const;
  const flapping = ['--fault=flapping-partition', '--flap-down', '46s'];
  expect(requestOf(crash, readFlags(flapping), now).scenario).toMatchObject({
    ...{ fault: 'flapping-partition', flapDownMs: 46_000, powerLoss: 'keeps' },
  });
  expect(() => requestOf(crash, readFlags([...flapping, '--power-loss', 'drops']), now)).toThrow(
    /only with fault node-crash, node-reboot\n {2}→ at fault\.powerLoss/,
  );
});
