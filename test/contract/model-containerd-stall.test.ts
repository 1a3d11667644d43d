/** containerd alone stands still: the kubelet says so, and can stop no container. */
import { expect, test } from 'vitest';
import { ModelStory } from '../support/model-story.ts';

test('the node is not Ready after 30 to 45 s though its Lease is renewed, and is Ready again after the heal', () => {
  const story = new ModelStory();
  story.machine.stall('containerd');
  story.until(100);
  const [lostS = 0] = story.times('nodeNotReady');
  expect(lostS).toBeGreaterThan(25);
  expect(lostS).toBeLessThan(41);
  expect(story.times('unheard')).toEqual([]);
  story.machine.resume();
  story.until(120);
  expect(story.times('nodeReady')).toHaveLength(1);
  expect(story.until(1000).times('podTerminating')).toEqual([]);
});

test('a short stall passes unseen', () => {
  const story = new ModelStory();
  story.machine.stall('containerd');
  story.until(20).machine.resume();
  expect(story.until(400).times('nodeNotReady')).toEqual([]);
});

test('an evicted pod is not stopped; removed by force, its volume is taken from it by the timer', () => {
  const story = new ModelStory();
  story.machine.stall('containerd');
  story.untilSeen('podTerminating');
  expect(story.until(story.nowS + 300).times('podGone')).toEqual([]);
  story.model.operator.forceDelete(story.podUid);
  story.until(story.nowS + 420);
  expect(story.times('forcedByTimeout')).toHaveLength(1);
  expect(story.model.serverOn(story.victim)).toBeDefined();
});
