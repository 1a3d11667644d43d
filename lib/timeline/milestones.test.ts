/** Who the two of a milestone are: whoever took over, one of a passage, or those who settled it. */
import { expect, test } from 'vitest';
import type { ObservationRecord } from '../history/events.ts';
import { observed, type ObservedName } from '../history/observations.ts';
import { milestones, type MilestoneName } from './milestones.ts';
import { roleOf, rolesOf, type Roles } from './roles.ts';
import { mysql } from '../mysql/database.ts';

const seen = (name: ObservedName, node?: string, uid?: string): ObservationRecord => ({
  ...{ type: 'observation', t: 0, source: 'api', name, data: { uid, ready: true } },
  ...(node === undefined ? {} : { node }),
});

const victim = { node: 'a', uid: 'old' };
const anybody = rolesOf(victim, mysql);
const passage = rolesOf(victim, mysql, 'c');
const settled: Roles = {
  ...anybody,
  victim: roleOf(victim),
  successor: roleOf({ node: 'c', uid: 'new' }),
};

const { mounted, podCreated, podGone, podReady, podScheduled } = observed;

test.each<readonly [MilestoneName, ObservationRecord, boolean, boolean, boolean]>([
  ['mounted', seen(mounted, 'c'), true, true, true],
  ['mounted', seen(mounted, 'b'), true, false, false],
  ['mounted', seen(mounted, 'a'), false, false, false],
  ['mounted', seen(mounted), false, false, false],
  ['bound', seen(podScheduled, 'c', 'new'), true, true, true],
  ['bound', seen(podScheduled, 'c', 'third'), true, true, false],
  ['bound', seen(podScheduled, 'a', 'new'), false, false, true],
  ['ready', seen(podReady, 'c', 'new'), true, true, true],
  ['ready', seen(podReady, 'a', 'new'), false, false, true],
  ['pod-gone', seen(podGone, 'a', 'old'), true, true, true],
  ['pod-gone', seen(podGone, 'a', 'new'), false, false, false],
])('%s: %j', (name, record, ofAnybody, ofPassage, ofSettled) => {
  const { is } = milestones[name];
  expect([is(record, anybody), is(record, passage), is(record, settled)]).toEqual([
    ...[ofAnybody, ofPassage, ofSettled],
  ]);
});

test('a pod that is created takes over, wherever it was bound by then', () => {
  const { is } = milestones.created;
  expect(is(seen(podCreated, undefined, 'new'), anybody)).toBe(true);
  expect(is(seen(podCreated, 'a', 'new'), anybody)).toBe(true);
  expect(is(seen(podCreated, undefined, 'old'), anybody)).toBe(false);
});

test('of a victim whose pod is not known there is no milestone', () => {
  const unknown = rolesOf({ node: 'a', uid: undefined }, mysql);
  expect(milestones['pod-gone'].is(seen(podGone, 'a'), unknown)).toBe(false);
});
