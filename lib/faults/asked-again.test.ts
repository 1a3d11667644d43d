/** A fault that lasts is asked as long as it lasts; what never answers does not hold. */
import { expect, test } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import type { Capability } from '../capabilities.ts';
import type { CertificateRecord } from '../history/events.ts';
import { askAgainEveryMs, askedAgain } from './asked-again.ts';
import type { Fault, FaultContext, Moments, Probe } from './fault.ts';

const lasting = (ask: Probe['ask']): Fault => ({
  name: 'freeze',
  leastMs: 0,
  inject: () => Promise.resolve(),
  holds: () => [{ claim: 'it stands still', ask }],
  heal: () => Promise.resolve(),
});

function contextOf(clock: VirtualClock): {
  context: FaultContext<Capability>;
  said: CertificateRecord[];
} {
  const said: CertificateRecord[] = [];
  const recorder = { record: (record: CertificateRecord) => void said.push(record) };
  const scenario = { graceMs: 50_000 };
  return {
    context: { scenario, recorder, testbed: { clock } } as unknown as FaultContext<Capability>,
    said,
  };
}

const holds = (): Promise<{ holds: boolean; evidence: string }> =>
  Promise.resolve({ holds: true, evidence: 'asked' });

test('once a minute while the run is watched', async () => {
  const { context, said } = contextOf(new VirtualClock());
  const waits: number[] = [];
  const passed = (ms: number): Promise<boolean> => Promise.resolve(waits.push(ms) <= 3);
  await askedAgain(lasting(holds)).goOn?.(context, { passed } as unknown as Moments);
  expect(waits).toEqual([60_000, 60_000, 60_000, 60_000]);
  expect(said.map(({ moment }) => moment)).toEqual(['during', 'during', 'during']);
  expect(said[0]).toMatchObject({ fault: 'freeze', claim: 'it stands still', holds: true });
});

test('a shorter grace period is a shorter run: it is asked more often, never without a pause', () => {
  expect([50_000, 10_000, 0].map(askAgainEveryMs)).toEqual([60_000, 12_000, 5000]);
});

test('a probe that never answers does not hold, and holds nobody up', async () => {
  const clock = new VirtualClock();
  const { context, said } = contextOf(clock);
  const asking = askedAgain(lasting(() => new Promise(() => undefined))).askAgain?.(context);
  await clock.advance(30_000);
  await asking;
  expect(said).toMatchObject([{ holds: false, evidence: 'no answer within 30 s' }]);
});

test('one that answers in time holds, also when the time is over', async () => {
  const clock = new VirtualClock();
  const { context, said } = contextOf(clock);
  await askedAgain(lasting(holds)).askAgain?.(context);
  await clock.advance(60_000);
  expect(said).toMatchObject([{ holds: true, evidence: 'asked' }]);
});

test('what is over by itself is not asked', () => {
  const { holds: _, ...over } = lasting(holds);
  expect(askedAgain(over)).toBe(over);
});
