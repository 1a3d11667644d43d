/** Somebody writes to the Lease of a lost node: what Kubernetes 1.37 makes of it, on the model. */
import { describe, expect, test } from 'vitest';
import type { ScenarioInput } from '../../lib/scenario/scenario.ts';
import { ModelStory } from '../support/model-story.ts';

const gate = 'NodeControllerLeaseCircuitBreaker';

/** A partition during which the victim's Lease is written to at these seconds. */
function written(fields: Partial<ScenarioInput>, atS: readonly number[]): ModelStory {
  const story = new ModelStory(fields);
  story.machine.setConnected(false);
  for (const second of atS) {
    story.until(second);
    story.model.operator.annotateLease(story.victim, `${second}`);
  }
  return story;
}

const eachSecond = (toS: number): number[] => Array.from({ length: toS }, (_, n) => n + 1);

describe('1.37, where the Lease is asked for again', () => {
  test('a lost node whose Lease is written to stays Ready, and nobody is evicted', () => {
    const story = written({}, eachSecond(600));
    expect(story.times('nodeNotReady')).toEqual([]);
    expect(story.times('podTerminating')).toEqual([]);
  });

  test('one write is enough: no later tick sees the Lease as it was at its last renewal', () => {
    const story = written({}, [30]).until(2000);
    expect(story.times('nodeNotReady')).toEqual([]);
  });

  test('the next controller manager knows the Lease as it is, and gives the node up', () => {
    const story = written({}, [30]).until(200);
    story.model.controlPlane.kill();
    story.until(400);
    expect(story.times('nodeNotReady')).toHaveLength(1);
  });

  test('what is written once the node is given up changes nothing', () => {
    const story = written({}, eachSecond(400).slice(80));
    expect(story.times('nodeNotReady')).toHaveLength(1);
    expect(story.times('podTerminating')).toHaveLength(1);
  });

  test('a renewal makes it known again: the next silence counts in full', () => {
    const story = written({}, [30]).until(200);
    story.machine.setConnected(true);
    story.until(300);
    story.machine.setConnected(false);
    story.until(400);
    expect(story.times('nodeNotReady')).toHaveLength(1);
  });
});

test.each([
  { kubernetes: { version: '1.36' } },
  { kubernetes: { version: '1.37', featureGates: { [gate]: false } } },
])('%o: only renewals count', (fields) => {
  const story = written(fields, eachSecond(400));
  expect(story.times('nodeNotReady')).toHaveLength(1);
  expect(story.times('podTerminating')).toHaveLength(1);
});
