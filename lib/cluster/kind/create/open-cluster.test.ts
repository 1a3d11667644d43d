import { expect, test } from 'vitest';
import { gatesIn } from '../cluster.ts';

test('the gates are read from what kubelet prints', () => {
  const help = `      --feature-gates mapStringBool      A set of key=value pairs. Options are:
                AllAlpha=true|false (ALPHA - default=false)
                kube:AllBeta=true|false (BETA - default=false)
                NodeControllerLeaseCircuitBreaker=true|false (BETA - default=true)`;
  expect(gatesIn(help)).toEqual(['AllAlpha', 'AllBeta', 'NodeControllerLeaseCircuitBreaker']);
  expect(gatesIn('nothing of the sort')).toEqual([]);
});
