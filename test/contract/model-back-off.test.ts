/** How the model tries again: the attacher what the disk refused, a kubelet what a partition cut off. */
import { describe, expect, test } from 'vitest';
import { csiCalls, observed } from '../../lib/history/observations.ts';
import { ModelStory, removed } from '../support/model-story.ts';

/** The controller manager begins anew, and asks for a second attachment that the disk refuses. */
function refused(seed?: string): { readonly story: ModelStory; readonly calls: () => number[] } {
  const story = new ModelStory({ disk: { mode: 'fenced' } }, seed);
  const { world, operator, controlPlane, kernel } = story.model;
  const seen: number[] = [];
  world.see = ({ name, data }): void => {
    if (name === observed.csiCall && data['call'] === csiCalls.publish)
      seen.push(kernel.nowUs / 1e6);
  };
  story.machine.setConnected(false);
  story.untilSeen('nodeNotReady');
  operator.deleteNode(story.victim);
  story.untilSeen('podGone');
  controlPlane.kill();
  story.untilSeen('publishRefused');
  return { story, calls: () => seen };
}

const gaps = (times: readonly number[]): number[] =>
  times.slice(1).map((atS, index) => atS - (times[index] ?? 0));

describe('the attacher', () => {
  test('asks twice at first, since its own mark on a new attachment is news: then after 1, 4, 8 … s', () => {
    const { story, calls } = refused();
    story.until(story.nowS + 40);
    const [again, ...later] = gaps(calls());
    expect(again).toBeLessThan(0.2);
    expect(later.slice(0, 5).map(Math.round)).toEqual([1, 4, 8, 16]);
  });

  test('is told of all attachments every ten minutes, and that try doubles the next wait', () => {
    const lastGaps = Array.from({ length: 12 }, (_, n) => {
      const { story, calls } = refused(`${n}`);
      story.until(story.nowS + 355);
      return gaps(calls()).slice(1);
    });
    const doubled = lastGaps.filter((all) =>
      all.some((s) => ![1, 4, 8, 16, 32, 64, 128].includes(Math.round(s))),
    );
    // 355 s of the ten minutes.
    expect(doubled.length).toBeGreaterThan(2);
    expect(doubled.length).toBeLessThan(12);
  });

  test('turns to a detach at once, whatever the attach waits for', () => {
    const { story } = refused();
    story.until(story.nowS + 100);
    const { api, operator } = story.model;
    const refusedOne = api.attachments.find(({ attached }) => !attached);
    if (refusedOne === undefined) throw new Error('nothing is refused');
    operator.deleteAttachments(refusedOne.node.name, { stripFinalizers: false });
    story.until(story.nowS + 1);
    expect(api.attachments).not.toContain(refusedOne);
  });
});

/** From the end of a partition until its kubelet stops the pod that was deleted meanwhile. */
function heardOfAfterS(cutS: number, seed: string): number {
  const story = new ModelStory({}, seed);
  story.model.operator.cordon(story.victim);
  story.machine.setConnected(false);
  story.until(cutS - 5);
  story.model.operator.forceDelete(story.podUid);
  story.until(cutS);
  story.machine.setConnected(true);
  const healedS = story.nowS;
  return story.untilSeen('unstaged').nowS - healedS;
}

describe('a kubelet that is back', () => {
  const seeds = Array.from({ length: 60 }, (_, n) => `${n}`);

  test('lists its pods when its reflector tries again: up to a minute after a long partition', () => {
    const waits = seeds.map((seed) => heardOfAfterS(300, seed));
    expect(Math.max(...waits)).toBeGreaterThan(42);
    expect(Math.max(...waits)).toBeLessThan(66);
    expect(waits.filter((waitS) => waitS < 10).length).toBeGreaterThan(3);
  });

  test('goes on with the watch that it has after a partition of 30 s', () => {
    const waits = seeds.map((seed) => heardOfAfterS(30, seed));
    expect(Math.max(...waits)).toBeLessThan(16);
  });

  test('may hear of its pods before it is Ready again, and long after', () => {
    const leads = seeds.map((seed) => {
      const story = removed({}, seed);
      story.machine.setConnected(true);
      story.until(story.nowS + 70);
      return Number(story.times('unstaged')[0]) - Number(story.times('nodeReady')[0]);
    });
    expect(Math.min(...leads)).toBeLessThan(-5);
    expect(Math.max(...leads)).toBeGreaterThan(20);
  });
});
