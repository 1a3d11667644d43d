/** A second fault comes at its moment, goes after its time, and never stays behind. */
import { expect, test } from 'vitest';
import type { Capability } from '../capabilities.ts';
import type { Fault, FaultContext, Moments } from './fault.ts';
import { withSecond } from './second.ts';

const fault = (name: string, said: string[]): Fault => ({
  name,
  leastMs: 0,
  inject: () => Promise.resolve(void said.push(`${name} breaks`)),
  heal: () => Promise.resolve(void said.push(`${name} heals`)),
});

const contextOf = (said: string[]): FaultContext<Capability> =>
  ({
    scenario: { alsoAt: 'pod-gone', alsoForMs: 5 },
    victim: { node: 'a' },
    testbed: { clock: { nowMs: () => 0 } },
    recorder: { record: ({ step }: { step: string }) => void said.push(step) },
  }) as unknown as FaultContext<Capability>;

const moments = (reached: boolean, passed: boolean): Moments => ({
  reached: () => Promise.resolve(reached),
  passed: () => Promise.resolve(passed),
});

async function played(reached: boolean, passed: boolean): Promise<string[]> {
  const said: string[] = [];
  const both = withSecond(fault('first', said), fault('second', said));
  const context = contextOf(said);
  await both.inject(context);
  await both.goOn?.(context, moments(reached, passed));
  await both.heal(context);
  return said;
}

test('it comes and goes while the first lasts', async () => {
  const said = ['first breaks', 'second breaks', 'second heals', 'first heals'];
  expect(await played(true, true)).toEqual(said);
});

test('it is healed with the first where its time was not over', async () => {
  const said = ['first breaks', 'second breaks', 'second heals', 'first heals'];
  expect(await played(true, false)).toEqual(said);
});

test('one whose moment never came has failed, and there is nothing to heal', async () => {
  expect(await played(false, false)).toEqual(['first breaks', 'failed', 'first heals']);
});

test('the first is healed whatever becomes of the second', async () => {
  const said: string[] = [];
  const broken = { ...fault('second', said), heal: () => Promise.reject(new Error('stuck')) };
  const both = withSecond(fault('first', said), broken);
  await both.goOn?.(contextOf(said), moments(true, false));
  await expect(both.heal(contextOf(said))).rejects.toThrow('stuck');
  expect(said).toEqual(['second breaks', 'first heals']);
});

test('it goes on until its time is over, and is healed then', async () => {
  const said: string[] = [];
  let nowMs = 0;
  const clock = { nowMs: () => nowMs };
  const context = { ...contextOf(said), testbed: { clock } } as unknown as FaultContext<Capability>;
  const passing: Moments = {
    reached: () => Promise.resolve(true),
    passed: (ms) => Promise.resolve(void (nowMs += ms)).then(() => true),
  };
  const second: Fault = {
    ...fault('second', said),
    async goOn(_, during) {
      while (await during.passed(2)) said.push(`goes on at ${nowMs}`);
    },
  };
  await withSecond(fault('first', said), second).goOn?.(context, passing);
  expect(said).toEqual(['second breaks', 'goes on at 2', 'goes on at 4', 'second heals']);
  expect(nowMs).toBe(5);
});
