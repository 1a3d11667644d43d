/**
 * The one trace of a forced detach that nobody here made: Longhorn's pull request 1395 says what a
 * node going down looked like on a Kubernetes with 40 s of grace. Minutes and seconds, read by eye.
 */
import { expect, test } from 'vitest';
import { ModelStory } from '../support/model-story.ts';

/** Seconds after the fault. */
const trace = { notReady: 37, terminating: 354, forceDeleted: 392, detached: 754, running: 890 };
/** A person looks, and types. */
const byEyeS = 2;

function play(seed: string): Readonly<Record<'notReady' | 'eviction' | 'wait' | 'start', number>> {
  const story = new ModelStory(
    { kubernetes: { version: '1.28' }, fault: { kind: 'node-crash' } },
    seed,
  );
  const faultAtS = story.nowS;
  story.machine.kill();
  const notReadyS = story.untilSeen('nodeNotReady').nowS;
  const evictedS = story.untilSeen('podTerminating').nowS;
  const removedS = story.until(evictedS + trace.forceDeleted - trace.terminating).nowS;
  story.model.operator.forceDelete(story.podUid);
  const detachedS = story.untilSeen('attachmentGone').nowS;
  const runningS = story.untilSeen('podRunning').nowS;
  return {
    notReady: notReadyS - faultAtS,
    eviction: evictedS - notReadyS,
    wait: detachedS - removedS,
    start: runningS - detachedS,
  };
}

const plays = Array.from({ length: 60 }, (_, n) => play(`longhorn/${n}`));

function rangeOf(phase: keyof (typeof plays)[number]): readonly [number, number] {
  const all = plays.map((each) => each[phase]);
  return [Math.min(...all) - byEyeS, Math.max(...all) + byEyeS];
}
const isWithin = (value: number, [low, high]: readonly [number, number]): boolean =>
  value >= low && value <= high;

test('the node is lost, and the wait for the unmount takes, as long as there', () => {
  expect(isWithin(trace.notReady, rangeOf('notReady'))).toBe(true);
  expect(isWithin(trace.detached - trace.forceDeleted, rangeOf('wait'))).toBe(true);
});
