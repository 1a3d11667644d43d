/** What the clock of a node does to Kubernetes: its waits do not move, and its renewals do not count for a while. */
import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../lib/scenario/scenario.ts';
import { ModelStory } from '../support/model-story.ts';

const graceS = 50;

function setBack(byS: number, fields: Partial<ScenarioInput> = {}): ModelStory {
  const story = new ModelStory({ ...fields, kubernetes: { version: '1.36' } });
  story.machine.setClockBack(byS * 1e6);
  return story.until(1200);
}

test('a step that is shorter than the grace period passes unseen', () => {
  expect(setBack(graceS - 15).times('nodeNotReady')).toEqual([]);
});

test('the node flaps until its clock has caught up, and no pod is evicted', () => {
  const story = setBack(300);
  const [lost, back] = [story.times('nodeNotReady'), story.times('nodeReady')];
  expect(lost.length).toBeGreaterThanOrEqual(4);
  expect(back).toHaveLength(lost.length);
  // A status report comes every 10 s, 2 % later in the mean.
  for (const [n, atS] of lost.entries()) expect(Number(back[n]) - atS).toBeLessThan(10.5);
  expect(Number(lost.at(-1))).toBeLessThan(300);
  expect(story.times('podTerminating')).toEqual([]);
});

test('without a toleration the pod is evicted, and its whole node unmounts before the volume moves', () => {
  const story = setBack(120, { timers: { toleration: 0 } });
  expect(story.times('podTerminating').length).toBeGreaterThan(0);
  expect(story.times('forcedByTimeout')).toEqual([]);
});

test('a clock that is set right counts at once', () => {
  const story = new ModelStory({ kubernetes: { version: '1.36' } });
  story.machine.setClockBack(3_600_000_000);
  story.until(30).machine.setClockBack(0);
  expect(story.until(1200).times('nodeNotReady')).toEqual([]);
});
