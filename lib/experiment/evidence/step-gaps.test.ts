/** Steps of fault and remedy that the scenario did not ask for, or that are not there. */
import { expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import type { ActionRecord } from '../../history/events.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import { tellStory } from '../../timeline/story.ts';
import type { ScenarioInput } from '../scenario.ts';
import { stepGaps } from './step-gaps.ts';
import { mysql } from '../../mysql/database.ts';

const step = (
  t: number,
  actor: ActionRecord['actor'],
  name: string,
  what: ActionRecord['step'],
  node = 'a',
): ActionRecord => ({ type: 'action', t, actor, name, step: what, node });

const fault = (name: string, healAtMs = 60_000): SmallRecord[] => [
  step(10_000, 'fault', name, 'begin'),
  step(10_100, 'fault', name, 'done'),
  step(healAtMs, 'fault', name, 'heal'),
  step(healAtMs + 10, 'fault', name, 'healed'),
];
const remedy = (t = 30_000): SmallRecord[] => [
  step(t, 'remedy', 'force-delete', 'begin'),
  step(t + 1, 'remedy', 'force-delete', 'done'),
];

const gapsOf = (
  records: readonly SmallRecord[],
  fields: Partial<ScenarioInput> = { remedy: 'force-delete' },
  about: { readonly schemaVersion?: 1 } = {},
): string[] => {
  const frame: SmallRecord[] = [
    { ...runRecord(fields), schemaVersion: 2, ...about },
    see(1000, observed.podRunning, 'a', { uid: 'victim' }),
    { type: 'phase', t: 9900, phase: 'fault' },
    see(20_000, observed.podTerminating, 'a', { uid: 'victim' }),
    { type: 'phase', t: 59_999, phase: 'heal' },
    { type: 'phase', t: 100_000, phase: 'second-image' },
  ];
  const story = tellStory(
    [...frame, ...records].toSorted((a, b) => a.t - b.t),
    mysql,
  );
  return stepGaps(story);
};

const whole = [...fault('network-partition'), ...remedy()];

test('a whole run has no gap', () => {
  expect(gapsOf(whole)).toEqual([]);
});

test.each<[string, readonly SmallRecord[], string]>([
  [
    'no remedy',
    [...fault('network-partition')],
    'no record says that the remedy force-delete was begun',
  ],
  [
    'a remedy before its moment',
    [...fault('network-partition'), ...remedy(19_000)],
    'the remedy force-delete began at 19.0 s, before its moment: terminating',
  ],
  [
    'a fault that is never healed',
    [...fault('network-partition').slice(0, 2), ...remedy()],
    'no record says that the fault network-partition was healed',
  ],
  [
    'a fault that is healed too early',
    [...fault('network-partition', 40_000), ...remedy()],
    'the fault network-partition was to last until 60.0 s, and was healed at 40.0 s',
  ],
  [
    'another fault',
    [...whole, step(11_000, 'fault', 'freeze', 'begin')],
    'the scenario asks for no fault freeze, and there is one',
  ],
  [
    'a remedy on another node',
    [...whole, step(31_000, 'remedy', 'force-delete', 'begin', 'b')],
    'remedy force-delete (begin) names b, and the database ran on a',
  ],
])('%s', (_what, records, reason) => {
  expect(gapsOf(records)).toEqual([reason]);
});

test('nothing is asked of version 1', () => {
  expect(gapsOf(whole.slice(0, 1), {}, { schemaVersion: 1 })).toEqual([]);
});

test('a remedy that is to come after a minute does not come before', () => {
  const fields = { remedy: 'force-delete', remedyAt: 30_000 } as const;
  const at = (t: number): string[] => gapsOf([...fault('network-partition'), ...remedy(t)], fields);
  expect(at(39_900)).toEqual([]);
  expect(at(39_000)).toEqual([
    'the remedy force-delete began at 39.0 s, before its moment: 30s after the fault',
  ]);
});

test('a fault that is over at once is not healed, and one that is rebooted heals by itself', () => {
  const instant = [...fault('kubelet-restart').slice(0, 2)];
  expect(gapsOf(instant, { fault: 'kubelet-restart' })).toEqual([]);
  const reboot = (t: number): string[] =>
    gapsOf([...fault('node-reboot', t)], { fault: 'node-reboot', rebootAt: 20_000 });
  expect(reboot(29_900)).toEqual([]);
  expect(reboot(25_000)).toEqual([
    'the fault node-reboot was to last until 29.9 s, and was healed at 25.0 s',
  ]);
});

test('a second fault lasts as long as it was to, or to the end of the first', () => {
  const second = (t: number): string[] =>
    gapsOf(
      [
        ...fault('network-partition'),
        step(20_000, 'fault', 'api-outage', 'begin'),
        step(20_100, 'fault', 'api-outage', 'done'),
        step(t, 'fault', 'api-outage', 'heal'),
      ],
      { also: 'api-outage', alsoAt: 10_000, alsoForMs: 15_000 },
    );
  expect(second(35_100)).toEqual([]);
  expect(second(30_000)).toHaveLength(1);
  expect(gapsOf([...fault('network-partition')], { also: 'api-outage' })).toEqual([
    'no record says that the fault api-outage was begun',
  ]);
});
