/** Calls that fail or last, on the model: what the attacher, the controller and a kubelet make of them. */
import { expect, test } from 'vitest';
import { csiCalls } from '../../lib/core/index.ts';
import { observed } from '../../lib/history/observations.ts';
import { CallBook } from '../../lib/scenario/index.ts';
import { ModelStory, outOfService } from '../support/model-story.ts';

interface Seen {
  readonly name: string;
  readonly atS: number;
  readonly data: Readonly<Record<string, unknown>>;
}

function storyWith(calls: string, fields: ConstructorParameters<typeof ModelStory>[0] = {}) {
  const story = new ModelStory(fields);
  const seen: Seen[] = [];
  const { world, volume } = story.model;
  const readyS = world.kernel.nowUs / 1e6;
  world.see = ({ name, data, atUs = world.kernel.nowUs }) =>
    void seen.push({ name, data, atS: atUs / 1e6 - readyS });
  volume.calls = new CallBook(calls);
  const callsOf = (call: keyof typeof csiCalls): Seen[] =>
    seen.filter(({ name, data }) => name === observed.csiCall && data['call'] === csiCalls[call]);
  const errors = (): unknown[] =>
    seen.flatMap(({ name, data }) => (name === observed.attachmentFailed ? [data['error']] : []));
  return { story, callsOf, errors };
}

/** A partition whose node is out of service: its volume is to go at once. */
function takenAway(calls: string, fields: Parameters<typeof storyWith>[1] = {}) {
  const all = storyWith(calls, fields);
  const { story } = all;
  story.machine.setConnected(false);
  story.untilSeen('nodeNotReady');
  story.model.operator.taint(story.victim, outOfService);
  story.untilSeen('attachmentDeleting');
  return all;
}

const gaps = (calls: readonly Seen[]): number[] =>
  calls.slice(1).map(({ atS }, index) => Math.round(atS - (calls[index]?.atS ?? 0)));

test('a detach that is refused three times is tried again after 1, 2 and 4 s, and then done', () => {
  const { story, callsOf, errors } = takenAway('unpublish=NOT_FOUND*3');
  story.until(story.nowS + 60);
  const calls = callsOf('unpublish');
  expect(gaps(calls)).toEqual([1, 2, 4]);
  expect(calls.map(({ data }) => data['error'] !== undefined)).toEqual([true, true, true, false]);
  expect(errors()).toContainEqual(expect.stringMatching(/^NOT_FOUND: unpublish is refused/));
  // A failed detach is uncertain: another attach is tried, and the storage refuses it until then.
  expect(story.times('uncertain').length).toBeGreaterThan(0);
  expect(story.secondMountS).toBeGreaterThan(calls.at(-1)?.atS ?? Infinity);
});

test('a detach that is refused for ever lets no other node mount, unless the storage does', () => {
  const { story, errors } = takenAway('unpublish=UNAVAILABLE');
  story.until(story.nowS + 900);
  expect(story.secondMountS).toBeUndefined();
  expect(story.times('publishRefused').length).toBeGreaterThan(0);
  expect(errors().some((error) => String(error).startsWith('UNAVAILABLE'))).toBe(true);

  const granted = takenAway('unpublish=UNAVAILABLE', { disk: { attachWhileBusy: 'granted' } });
  granted.story.until(granted.story.nowS + 60);
  expect(granted.story.secondMountS).toBeDefined();
  expect(granted.story.times('unpublished')).toEqual([]);
});

test('without an answer the attacher gives up after 15 s and asks again', () => {
  const { story, callsOf, errors } = takenAway('unpublish=never');
  story.until(story.nowS + 120);
  expect(gaps(callsOf('unpublish'))).toEqual([16, 17, 19, 23]);
  expect(callsOf('unpublish')[0]?.data).toMatchObject({
    error: expect.stringMatching(/^CANCELLED/),
    durationMs: 15_000,
  });
  expect(errors()[0]).toMatch(/^DEADLINE_EXCEEDED/);
  expect(story.secondMountS).toBeUndefined();
});

test('an answer after 40 s: the work of the first call is done then, and a later one finds it done', () => {
  const { story, callsOf } = takenAway('unpublish=late:40s');
  story.until(story.nowS + 120);
  const [first, ...later] = callsOf('unpublish').toSorted((a, b) => a.atS - b.atS);
  expect(first?.data).toMatchObject({ durationMs: expect.closeTo(40_000, -2) });
  expect(later.every(({ data }) => data['error'] === undefined)).toBe(true);
  expect(story.secondMountS).toBeGreaterThan((first?.atS ?? Infinity) + 40);
});

test('because the Node is gone: not while it is there, and no longer once it is back', () => {
  const { story } = storyWith('unpublish=NOT_FOUND@node-gone');
  story.model.operator.deletePod(story.podUid);
  for (const node of [story.victim]) story.model.operator.cordon(node);
  story.untilSeen('unpublished');
  expect(story.times('detachFailed')).toEqual([]);

  const gone = storyWith('unpublish=NOT_FOUND@node-gone').story;
  gone.machine.kill();
  gone.model.operator.deleteNode(gone.victim);
  gone.untilSeen('detachFailed');
  gone.until(gone.nowS + 600);
  expect(gone.secondMountS).toBeUndefined();
  gone.machine.start();
  gone.untilSeen('unpublished');
  expect(gone.untilSeen('mounted').nowS).toBeGreaterThan(0);
});

test('because the machine is gone', () => {
  const { story } = storyWith('unpublish=NOT_FOUND@machine-gone');
  story.machine.kill();
  story.untilSeen('nodeNotReady');
  story.model.operator.taint(story.victim, outOfService);
  story.untilSeen('detachFailed');
  expect(story.secondMountS).toBeUndefined();
});

/** The pod is deleted, and its node takes no other one. */
function drained(calls: string): ReturnType<typeof storyWith> {
  const all = storyWith(calls);
  all.story.model.operator.cordon(all.story.victim);
  all.story.model.operator.deletePod(all.story.podUid);
  return all;
}

test('an unmount that never ends on a Ready node holds the volume for ever: the six minutes do not end it', () => {
  const { story, callsOf } = drained('unstage=never');
  story.until(1500);
  expect(gaps(callsOf('unstage')).slice(0, 3)).toEqual([121, 121, 122]);
  expect(story.times('multiAttach').length).toBeGreaterThan(0);
  expect(story.times('forcedByTimeout')).toEqual([]);
  expect(story.times('attachmentDeleting')).toEqual([]);
  // Had it not been Ready, they would.
  story.machine.setConnected(false);
  expect(story.untilSeen('forcedByTimeout').nowS).toBeLessThan(1580);
});

test('a pod that stays on the node is staged anew after an unstage that failed', () => {
  const { story, callsOf } = storyWith('unstage=INTERNAL*1');
  for (const node of story.model.nodes) story.model.operator.cordon(node);
  story.model.operator.deletePod(story.podUid);
  story.untilSeen('podGone');
  story.until(story.nowS + 0.3);
  story.model.operator.uncordon(story.victim);
  story.until(story.nowS + 40);
  expect(callsOf('unstage')[0]?.data['error']).toBeDefined();
  expect(callsOf('stage').length).toBeGreaterThan(0);
  expect(story.times('podReady').length).toBeGreaterThan(0);
});

test('a staging that is refused twice is tried again after 0.5 and 1 s', () => {
  const { story, callsOf } = drained('stage=INTERNAL*2');
  story.until(90);
  const calls = callsOf('stage');
  expect(calls.map(({ data }) => data['error'] !== undefined)).toEqual([true, true, false]);
  expect(gaps(calls).every((s) => s <= 3)).toBe(true);
  expect(story.times('podReady').length).toBeGreaterThan(0);
});

test('on the node: a publish that fails keeps the pod from starting, an unpublish keeps its object', () => {
  const published = drained('nodePublish=INTERNAL').story;
  published.until(300);
  expect(published.times('staged', 'others')).toHaveLength(1);
  expect(published.times('containerStarted', 'others')).toEqual([]);

  const { story, callsOf } = drained('nodeUnpublish=INTERNAL*3');
  story.untilSeen('podGone');
  expect(callsOf('nodeUnpublish')).toHaveLength(4);
  expect(gaps(callsOf('nodeUnpublish'))).toEqual([1, 1, 2]);
});

/** A crash whose pod was evicted, and the machine boots before its volume would be forced away. */
function backInTime(calls: string): ReturnType<typeof storyWith> {
  const all = storyWith(calls);
  all.story.machine.kill();
  all.story.untilSeen('podTerminating');
  all.story.machine.start();
  return all;
}

test('a kubelet that is back asks for the unmount that the crash left, once its driver is', () => {
  const { story, callsOf } = backInTime('honest');
  const bootS = story.nowS;
  const goneS = story.untilSeen('podGone').nowS;
  const [asked] = callsOf('nodeUnpublish');
  expect(asked?.atS).toBeGreaterThan(bootS + 2);
  expect(goneS).toBeGreaterThan(asked?.atS ?? Infinity);
  const detachedS = story.untilSeen('unpublished').nowS;
  expect(story.times('notInUse', 'victim').some((atS) => atS > goneS && atS < detachedS)).toBe(
    true,
  );
  expect(story.times('unstaged', 'victim')).toHaveLength(1);
  expect(story.times('podFailed')).toHaveLength(1);
});

test('where that unmount fails, as of a raw block, pod and volume stay on the Ready node for ever', () => {
  const { story, callsOf } = backInTime('nodeUnpublish=INTERNAL');
  story.until(story.nowS + 1500);
  expect(callsOf('nodeUnpublish').length).toBeGreaterThan(10);
  expect(story.times('podGone')).toEqual([]);
  expect(story.times('attachmentDeleting')).toEqual([]);
  expect(story.secondMountS).toBeUndefined();
});
