/** containerd alone stands still: the kubelet says so, and can stop no container. */
import { expect, test } from 'vitest';
import { ModelStory } from '../support/model-story.ts';

test('the node is not Ready after two minutes though its Lease is renewed, and is Ready again after the heal', () => {
  const story = new ModelStory();
  story.machine.stall('containerd');
  story.until(200);
  const [lostS = 0] = story.times('nodeNotReady');
  expect(lostS).toBeGreaterThan(120);
  expect(lostS).toBeLessThan(131);
  expect(story.times('unheard')).toEqual([]);
  story.machine.resume();
  story.until(220);
  expect(story.times('nodeReady')).toHaveLength(1);
  expect(story.until(1000).times('podTerminating')).toEqual([]);
});

test('it is tainted not-ready, and unreachable in its place once the kubelet is silent as well', () => {
  const story = new ModelStory();
  const taintsOf = (): string[] => {
    const node = story.model.api.nodes.find(({ name }) => name === story.victim);
    return node?.taints.map(({ key, effect }) => `${key}:${effect}`).toSorted() ?? [];
  };
  story.machine.stall('containerd');
  story.until(150);
  const of = (key: string): string[] =>
    ['NoExecute', 'NoSchedule'].map((effect) => `node.kubernetes.io/${key}:${effect}`);
  expect(taintsOf()).toEqual(of('not-ready'));
  story.machine.setConnected(false);
  story.until(250);
  expect(taintsOf()).toEqual(of('unreachable'));
});

test('a short stall passes unseen', () => {
  const story = new ModelStory();
  story.machine.stall('containerd');
  story.until(100).machine.resume();
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
