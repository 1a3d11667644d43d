/** A fault that lasts is asked as long as it lasts; what never answers does not hold. */
import { expect, test } from 'vitest';
import { VirtualClock } from '../../../test/support/virtual-clock.ts';
import type { Capability } from '../../core/capabilities.ts';
import type { CertificateRecord } from '../../history/records.ts';
import { askedAgain } from './around.ts';
import type { Fault, FaultContext, Probe } from './fault.ts';

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
