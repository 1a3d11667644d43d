/** A node that is shut down in order, on the model alone: when its volume is free, and what its pod is called. */
import { expect, test } from 'vitest';
import { CallBook } from '../../lib/scenario/index.ts';
import type { ScenarioInput } from '../../lib/scenario/scenario.ts';
import { play } from '../../lib/sweep/play.ts';
import { parseScenario } from '../../lib/scenario/scenario.ts';
import { ModelStory } from '../support/model-story.ts';

const atS = 30;
const seeds = Array.from({ length: 40 }, (_, n) => `${n}`);

function shutDown(
  fault: Partial<ScenarioInput['fault']>,
  seed: string,
  calls = 'honest',
): ModelStory {
  const fields = { fault: { kind: 'node-shutdown', ...fault } } as const;
  const story = new ModelStory(fields, seed).until(atS);
  story.model.volume.calls = new CallBook(calls);
  story.machine.shutDown();
  return story;
}

test('without a grace period nothing but the eviction comes, and no second mount', () => {
  for (const seed of seeds.slice(0, 10)) {
    const story = shutDown({}, seed).until(atS + 900);
    expect(story.machine.state).toBe('stopped');
    expect(story.times('podFailed')).toEqual([]);
    expect(story.times('podTerminating')).toHaveLength(1);
    expect(story.secondMountS).toBeUndefined();
  }
});

test('a driver that ends beside the pods leaves the volume in use: six minutes from the shutdown', () => {
  for (const seed of seeds) {
    const story = shutDown({ shutdownGrace: 30_000, driverEnds: 'with-pods' }, seed).until(
      atS + 420,
    );
    const [endedS = 0] = story.times('podFailed');
    const [forcedS = 0] = story.times('forcedByTimeout');
    expect(endedS - atS).toBeLessThan(10);
    expect(story.times('unstaged', 'victim')).toEqual([]);
    expect(forcedS - endedS).toBeGreaterThan(360);
    expect(forcedS - endedS).toBeLessThan(363);
    expect(story.secondMountS).toBeGreaterThan(forcedS);
  }
});

test('a driver that ends during an unmount leaves the volume in use as well', () => {
  for (const seed of seeds.slice(0, 10)) {
    const story = shutDown({ shutdownGrace: 30_000 }, seed, 'unstage=late:60s').until(atS + 480);
    const [endedS = 0] = story.times('podFailed');
    const [forcedS = 0] = story.times('forcedByTimeout');
    expect(story.times('unstaged', 'victim')).toEqual([]);
    expect(forcedS - endedS).toBeGreaterThan(360);
    expect(story.secondMountS).toBeGreaterThan(forcedS);
  }
});

test('a driver that ends last unmounts, and only a status report in time spares the six minutes', () => {
  const forced = seeds.filter((seed) => {
    const story = shutDown({ shutdownGrace: 30_000 }, seed).until(atS + 420);
    const isReported = story.times('notInUse', 'victim').length > 0;
    const isForced = story.times('forcedByTimeout').length > 0;
    expect(story.times('unmounted', 'victim')[0]).toBeLessThan(atS + 15);
    expect(isForced).toBe(!isReported);
    expect((story.secondMountS ?? Infinity) < atS + 60).toBe(isReported);
    return isForced;
  });
  expect(forced.length).toBeGreaterThan(seeds.length / 2);
  expect(forced.length).toBeLessThan(seeds.length);
});

test('a pod is over only once its containers are: Succeeded, or Failed where they were killed', () => {
  const phaseOf = (terminationGrace: number): string | undefined => {
    const fields = {
      fault: { kind: 'node-shutdown', shutdownGrace: 30_000 },
      workload: { terminationGrace, kind: 'deployment-recreate' },
    } as const;
    const story = new ModelStory(fields).until(atS);
    story.machine.shutDown();
    const pod = story.model.api.podWithUid(story.podUid);
    story.untilSeen('podFailed');
    expect(story.model.serverOn(story.victim)).toBeUndefined();
    return pod?.phase;
  };
  expect(phaseOf(30_000)).toBe('Succeeded');
  expect(phaseOf(0)).toBe('Failed');
});

test('drained, then shut down: what its kubelet did not report in time costs the six minutes', () => {
  const fault = { kind: 'node-shutdown', shutdownGrace: 0, drainFor: 60_000 } as const;
  const scenario = parseScenario({ name: 'drained', question: '?', fault, expected: ['safe'] });
  const mountS = seeds.map((seed) => Number(play(scenario, seed).secondMountUs) / 1e6);
  const late = mountS.filter((s) => s > 60);
  expect(Math.max(...mountS.filter((s) => s <= 60))).toBeLessThan(20);
  expect(Math.min(...late)).toBeGreaterThan(360);
  expect(Math.max(...late)).toBeLessThan(375);
  expect(late.length).toBeGreaterThan(seeds.length / 2);
  expect(late.length).toBeLessThan(seeds.length);
});
