/** Whether a pod is Ready through a restart of its kubelet, by version, on the model alone. */
import { expect, test } from 'vitest';
import type { ScenarioInput } from '../../lib/scenario/scenario.ts';
import { ModelStory } from '../support/model-story.ts';

const restartedAtS = 30;

function restarted(fields: Partial<ScenarioInput>, seed: string): ModelStory {
  const story = new ModelStory(fields, seed).until(restartedAtS);
  story.machine.restartKubelet();
  return story.until(restartedAtS + 60);
}

const seeds = Array.from({ length: 10 }, (_, n) => `${n}`);

test.each([
  { kubernetes: { version: '1.34' } },
  {
    kubernetes: { version: '1.37', featureGates: { ChangeContainerStatusOnKubeletRestart: true } },
  },
])('%o: not Ready from the new kubelet’s first word to its first probe', (fields) => {
  for (const seed of seeds) {
    const story = restarted(fields, seed);
    const [lostS = 0] = story.times('podNotReady');
    const [readyS = 0] = story.times('podReady').slice(-1);
    expect(story.times('podNotReady')).toHaveLength(1);
    expect(lostS).toBeGreaterThan(restartedAtS);
    expect(readyS).toBeGreaterThan(lostS);
    expect(readyS - lostS).toBeLessThan(5.5);
  }
});

test.each(['1.35', '1.36', '1.37'])('%s: a pod that was Ready stays so', (kubernetes) => {
  for (const seed of seeds)
    expect(restarted({ kubernetes: { version: kubernetes } }, seed).times('podNotReady')).toEqual(
      [],
    );
});
