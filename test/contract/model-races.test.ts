/**
 * The races that Kubernetes leaves open, one a test, on the model alone. R is that of docs/internals/model.md.
 */
import { expect, test } from 'vitest';
import { evicted, ModelStory, outOfService, removed, waitS } from '../support/model-story.ts';

test('R1: unless it is forced, no node mounts what another has not unmounted', () => {
  for (let seed = 0; seed < 60; seed++) {
    const story = new ModelStory({}, `${seed}`);
    for (let atS = 0; atS < 200; atS += 20 + (seed % 7)) {
      story.model.operator.deletePod(story.model.api.databasePod()?.uid ?? '');
      story.until(atS);
      const mounted = story.model.kubelets.filter((kubelet) => kubelet.mount() !== undefined);
      expect(mounted.length).toBeLessThanOrEqual(1);
    }
    expect(story.times('mounted').length).toBeGreaterThan(1);
  }
});

test('R2: a pod made anew on its node keeps the mount', () => {
  const story = new ModelStory();
  for (const node of story.model.nodes) {
    if (node !== story.victim) story.model.operator.cordon(node);
  }
  story.model.operator.forceDelete(story.podUid);
  story.until(60);
  expect(story.times('stageSkipped', 'victim')).toHaveLength(1);
  expect(story.times('sameNodeOverlap', 'victim').length).toBeGreaterThan(0);
  expect(story.times('attachmentDeleting')).toEqual([]);
});

test('ReadWriteOncePod ends that: the next one waits for the old one', () => {
  const story = new ModelStory({ volume: { accessMode: 'ReadWriteOncePod' } });
  story.model.operator.forceDelete(story.podUid);
  story.until(120);
  expect(story.times('sameNodeOverlap')).toEqual([]);
  expect(story.times('podReady').length).toBeGreaterThan(0);
});

test('R3: a kubelet restarted between Unpublish and Unstage forgets the mount', () => {
  let forgotten = 0;
  for (let seed = 0; seed < 20; seed++) {
    const story = new ModelStory({}, `${seed}`);
    for (const node of story.model.nodes) story.model.operator.cordon(node);
    story.model.operator.deletePod(story.podUid);
    story.untilSeen('podGone');
    story.machine.restartKubelet();
    story.until(story.nowS + 60);
    if (story.times('mountForgotten').length === 0) continue;
    forgotten += 1;
    expect(story.times('unmounted')).toEqual([]);
    expect(story.times('unpublished')).toHaveLength(1);
  }
  expect(forgotten).toBeGreaterThan(0);
});

test('R4, R9: a node that is back is not detached by force once its return is seen', () => {
  const outcomes = new Set<boolean>();
  for (let step = 0; step < 40; step++) {
    const story = removed({}, `${step}`);
    const removedS = story.nowS;
    story.until(removedS + waitS - 39 + step);
    story.machine.setConnected(true);
    story.until(removedS + waitS + 60);
    outcomes.add(story.times('forcedByTimeout').length > 0);
  }
  expect(outcomes).toEqual(new Set([true, false]));
});

test('R5: the taint on a healthy node detaches in the middle of the unmount', () => {
  let early = 0;
  for (let seed = 0; seed < 40; seed++) {
    const story = new ModelStory({ workload: { preStop: 1000 } }, `${seed}`);
    story.model.operator.taint(story.victim, outOfService);
    story.until(60);
    const [unpublishedS = 0] = story.times('unpublished', 'victim');
    const [unmountedS = 0] = story.times('unmounted', 'victim');
    if (unpublishedS < unmountedS) early += 1;
  }
  expect(early).toBeGreaterThan(0);
});

test.each([
  ['1.34', true],
  ['1.28', false],
] as const)('R6: in %s a detach that failed lets the next node attach: %s', (kubernetes, lets) => {
  const fields = {
    kubernetes: { version: kubernetes },
    disk: { mode: 'pending-while-busy', attachWhileBusy: 'granted' },
  } as const;
  const story = removed(fields);
  story.until(story.nowS + 500);
  expect(story.times('detachFailed').length).toBeGreaterThan(0);
  expect(story.secondMountS !== undefined).toBe(lets);
});

test.each(['pending-while-busy', 'unfenced'] as const)(
  'R7: after a Node was deleted a new leader lets the next node in at once: %s',
  (disk) => {
    // Where the storage lets it: one that counts attachments refuses (heldElsewhere).
    const story = evicted({ disk: { mode: disk, attachWhileBusy: 'granted' } });
    story.model.operator.deleteNode(story.victim);
    story.untilSeen('podGone');
    story.model.controlPlane.kill();
    story.untilSeen('controllerLeads');
    const leadsS = story.nowS;
    story.until(leadsS + 20);
    expect(Number(story.secondMountS) - leadsS).toBeLessThan(15);
  },
);

test('R8: a pod that returns gets the mount of before the hand-over', () => {
  const story = removed();
  story.untilSeen('mounted');
  const successor = story.model.api.databasePod();
  const other = successor?.node?.name ?? '';
  for (const node of story.model.nodes) {
    if (node !== story.victim) story.model.operator.cordon(node);
  }
  story.machine.stall('kubelet');
  story.machine.setConnected(true);
  story.model.operator.deletePod(successor?.uid ?? '');
  story.until(story.nowS + 120);
  expect(story.model.machine(other).state).toBe('running');
  story.model.operator.untaint(story.victim, 'node.kubernetes.io/unreachable');
  story.machine.resume();
  story.until(story.nowS + 200);
  expect(story.times('staleMount', 'victim').length).toBeGreaterThan(0);
});

test('R10: a frozen node thaws after the hand-over with all it had', () => {
  const story = new ModelStory();
  story.machine.freeze();
  story.untilSeen('podTerminating');
  story.model.operator.forceDelete(story.podUid);
  story.untilSeen('mounted');
  expect(story.times('unmounted', 'victim')).toEqual([]);
  story.machine.thaw();
  story.until(story.nowS + 60);
  expect(story.times('unmounted', 'victim')).toHaveLength(1);
});

test('R11: a leader that ends after it took the volume off the list leaves it uncertain', () => {
  const story = removed();
  story.untilSeen('unlisted');
  story.model.controlPlane.stall('attacher');
  story.model.controlPlane.kill();
  story.untilSeen('controllerLeads').until(story.nowS + 5);
  expect(story.times('uncertain', 'victim')).toHaveLength(1);
  expect(story.times('attachmentCreated', 'others')).toHaveLength(1);
});

/** Two pods wait for one volume: whether the old one's node came first, and whether the lower of the two. */
function attachedFirst(
  nodes: number,
  seed: number,
): { readonly distance: number; readonly isOld: boolean; readonly isLower: boolean } {
  const fields = { workload: { kind: 'deployment-rolling-update' } } as const;
  const story = new ModelStory(fields, `${seed}`, { nodes });
  story.machine.setConnected(false);
  story.untilSeen('multiAttach');
  const [old = 0, next = 0] = [...story.model.api.pods].map(({ node }) => node?.index);
  story.model.operator.deleteAttachments(story.victim, { stripFinalizers: false });
  story.untilSeen('attachmentCreated');
  const isOld = story.times('attachmentCreated', 'victim').length > 0;
  return { distance: Math.abs(old - next), isOld, isLower: isOld === old < next };
}

test.each([2, 3, 7])('the order of two pods that wait is that of a Go map: %i nodes', (nodes) => {
  const draws = Array.from({ length: 400 }, (_, seed) => attachedFirst(nodes, seed));
  for (let distance = 1; distance < nodes; distance++) {
    const such = draws.filter((each) => each.distance === distance);
    const share = 1 - distance / 8;
    const count = such.filter(({ isLower }) => isLower).length;
    const deviation = Math.sqrt(such.length * share * (1 - share));
    expect(Math.abs(count - such.length * share)).toBeLessThan(4 * deviation);
  }
});

test('of two pods among more than eight nodes either may come first', () => {
  const draws = Array.from({ length: 40 }, (_, seed) => attachedFirst(20, seed));
  const old = draws.filter(({ isOld }) => isOld).length;
  expect(old).toBeGreaterThan(8);
  expect(old).toBeLessThan(32);
});
