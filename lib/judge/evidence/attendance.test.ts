/** Who may be silent, and when: the followers of the control plane's logs, while its node stands still. */
import { expect, test } from 'vitest';
import { see, storyOf } from '../../../test/support/run-record.ts';
import { observed, type SmallRecord } from '../../history/index.ts';
import { silencesOf } from './attendance.ts';

const fault = { type: 'action', actor: 'fault', node: 'a' } as const;
const sign = (t: number, name: string, reason?: string): SmallRecord =>
  see(t, name, 'cp', { observer: 'audit', sees: ['audit'], ...(reason && { reason }) });

/** The freeze lasts from 1 s to 200 s; the run is looked at until 300 s. */
function silencesWith(
  kind: 'control-plane-freeze' | 'api-outage',
  signs: readonly SmallRecord[],
): string[] {
  const records: SmallRecord[] = [
    sign(0, observed.observerBegan),
    ...signs,
    { ...fault, name: kind, t: 200_000, step: 'heal' },
    { ...fault, name: kind, t: 201_000, step: 'healed' },
    { type: 'phase', t: 300_000, phase: 'second-image' },
    sign(301_000, observed.observerEnded),
  ];
  return silencesOf(storyOf(records, { fault: { kind } }), 'audit');
}

const frozen = 'the node is frozen';
const back = [205_000, 225_000, 245_000, 265_000, 285_000].map((t) =>
  sign(t, observed.observerBeat),
);
const aroundFreeze = [sign(40_000, observed.observerEnded, frozen), ...back];

test('a control plane that stands still logs nothing, and its follower is back after it', () => {
  expect(silencesWith('control-plane-freeze', aroundFreeze)).toEqual([]);
});

test.each<[string, Parameters<typeof silencesWith>]>([
  ['its node runs', ['api-outage', aroundFreeze]],
  ['it never comes back', ['control-plane-freeze', aroundFreeze.slice(0, 1)]],
  [
    'it ends after the freeze',
    ['control-plane-freeze', [sign(202_000, observed.observerEnded, frozen), ...back.slice(3)]],
  ],
])('it is missed where %s', (_, given) => {
  expect(silencesWith(...given)).not.toEqual([]);
});
