/** An observer on a node ends for the node's sake only, and begins anew with it. */
import { expect, test, vi } from 'vitest';
import { observed } from '../../../history/observations.ts';
import { declareObserver } from '../../../history/observers.ts';
import type { Recorder } from '../../../history/port.ts';
import { liveOn, type NodeLife } from '../observe/pod-log.ts';

const begin = (why: () => Promise<string | undefined>): { said: unknown[][]; life: NodeLife } => {
  const said: unknown[][] = [];
  const recorder: Recorder = {
    record: (record) => {
      if (record.type !== 'observation') return;
      said.push([
        record.name,
        record.node,
        ...(record.data['reason'] ? [record.data['reason']] : []),
      ]);
    },
    subscribe: () => () => undefined,
  };
  const beating = declareObserver(recorder, { observer: 'mysqld', sees: ['mysqld'], node: 'a' });
  return { said, life: liveOn('a', beating, { why, patienceMs: 30, lookEveryMs: 5 }) };
};

const { observerBegan: began, observerBeat: beat, observerEnded: ended } = observed;

test('a node that is off ends it, once, and its next beat begins anew', async () => {
  const { said, life } = begin(() => Promise.resolve('the node is switched off'));
  await vi.waitFor(() => expect(said.length).toBeGreaterThan(1));
  life.beat();
  await life[Symbol.asyncDispose]();
  expect(said).toEqual([
    [began, 'a'],
    [ended, 'a', 'the node is switched off'],
    [began, 'a'],
    [beat, 'a'],
    [ended, 'a'],
  ]);
});

test('a silence on a node that runs, or that nobody can ask about, is no end', async () => {
  for (const why of [() => Promise.resolve(undefined), () => Promise.reject(new Error('silent'))]) {
    const asked = vi.fn(why);
    const { said, life } = begin(asked);
    await vi.waitFor(() => expect(asked).toHaveBeenCalled());
    expect(said).toEqual([[began, 'a']]);
    await life[Symbol.asyncDispose]();
    expect(said.at(-1)).toEqual([ended, 'a']);
  }
});
