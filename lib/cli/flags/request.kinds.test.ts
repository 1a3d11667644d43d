/** A kind that is given by a flag makes another experiment of it. */
import { expect, test } from 'vitest';
import type { Scenario } from '../../experiment/scenario.ts';
import { requestOf, type ExperimentDefinition } from './request.ts';

const now = new Date(0);
const groupDefinition = { ...{ name: 'three', question: 'Own?' }, fault: 'freeze' } as const;

test('another database is another experiment, with what goes with it', () => {
  const asked = (words: string, written: Partial<ExperimentDefinition> = {}): Scenario => {
    const made = requestOf({ ...groupDefinition, ...written }, words.split(' '), now);
    return made?.scenario ?? expect.fail('help was printed');
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
  const refused = (): Scenario => asked('--fault drain', { database: 'group-replication' });
  expect(refused).toThrow('Allowed choices are network-partition, node-crash, freeze.');
});
