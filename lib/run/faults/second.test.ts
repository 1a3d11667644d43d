/** A second fault comes at its moment, goes after its time, and never stays behind. */
import { expect, test } from 'vitest';
import type { Capability } from '../../core/capabilities.ts';
import type { Fault, FaultContext } from './fault.ts';
import { withSecond } from './around.ts';

const fault = (name: string, said: string[]): Fault => ({
  name,
  leastMs: 0,
  inject: () => Promise.resolve(void said.push(`${name} breaks`)),
  heal: () => Promise.resolve(void said.push(`${name} heals`)),
});

const contextOf = (said: string[]): FaultContext<Capability> =>
  ({
    scenario: { also: { kind: 'api-outage', at: 'pod-gone', for: 5 } },
    victim: { node: 'a' },
    testbed: { clock: { nowMs: () => 0 } },
    recorder: { record: ({ step }: { step: string }) => void said.push(step) },
  }) as unknown as FaultContext<Capability>;

test('the first is healed whatever becomes of the second', async () => {
  const said: string[] = [];
  const broken = { ...fault('second', said), heal: () => Promise.reject(new Error('stuck')) };
  const both = withSecond(fault('first', said), broken);
  const reached = {
    reached: () => Promise.resolve(true),
    passed: () => Promise.resolve(false),
    areMountedOn: () => [],
  };
  await both.goOn?.(contextOf(said), reached);
  await expect(both.heal(contextOf(said))).rejects.toThrow('stuck');
  expect(said).toEqual(['second breaks', 'first heals']);
});
