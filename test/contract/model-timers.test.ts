/** Timers, eviction alone (P of docs/internals/model.md) and the control plane, on the model alone. */
import { describe, expect, test } from 'vitest';
import { evicted, ModelStory, outOfService, removed, waitS } from '../support/model-story.ts';

describe('timers', () => {
  const seeds = Array.from({ length: 60 }, (_, n) => `${n}`);

  test('NotReady 40 to 60 s after the fault, eviction 300 s later', () => {
    for (const seed of seeds) {
      const story = evicted({}, seed);
      const [notReadyS = 0] = story.times('nodeNotReady');
      expect(notReadyS).toBeGreaterThan(39.9);
      expect(notReadyS).toBeLessThan(60);
      expect(story.nowS - notReadyS).toBeGreaterThan(299.9);
      expect(story.nowS - notReadyS).toBeLessThan(312);
    }
  });

  test('now and then the taint comes 10 s late: its turn was spent on a look that saw Ready', () => {
    const late = seeds.filter((seed) => evicted({}, seed).times('taintTurnLost').length > 0);
    expect(late.length).toBeGreaterThan(0);
    expect(late.length).toBeLessThan(seeds.length / 3);
  });

  test('before 1.32 a node is given up 10 s sooner', () => {
    const story = new ModelStory({ kubernetes: { version: '1.31' } });
    story.machine.setConnected(false);
    story.untilSeen('nodeNotReady');
    expect(story.nowS).toBeLessThan(50);
  });

  test('a node that stood still for a copy of the volume stays Ready, also within a short grace', () => {
    for (const seed of seeds) {
      const story = new ModelStory({ timers: { grace: 10_000 } }, seed);
      story.machine.freeze();
      story.until(0.6);
      story.machine.thaw();
      story.until(60);
      expect(story.times('nodeNotReady')).toEqual([]);
    }
  });

  test('force-delete: a second mount 361 to 366 s later', () => {
    const story = removed();
    const atS = story.nowS;
    story.until(atS + 400);
    expect(Number(story.secondMountS) - atS).toBeGreaterThan(waitS);
    expect(Number(story.secondMountS) - atS).toBeLessThan(waitS + 6);
  });

  test('out-of-service: a second mount within 34 s', () => {
    const story = evicted();
    const atS = story.nowS;
    story.model.operator.taint(story.victim, outOfService);
    story.until(atS + 60);
    expect(Number(story.secondMountS) - atS).toBeLessThan(34);
  });

  test('delete-node: the quarantine of 40 s, then the whole wait', () => {
    const story = evicted();
    const atS = story.nowS;
    story.model.operator.deleteNode(story.victim);
    story.until(atS + 500);
    const [goneS = 0] = story.times('podGone');
    expect(goneS - atS).toBeGreaterThan(40);
    expect(goneS - atS).toBeLessThan(80);
    expect(Number(story.secondMountS) - goneS).toBeGreaterThan(waitS);
  });

  test.each(['stateful-set', 'deployment-recreate'] as const)(
    'a Terminating pod of a %s pins its volume for ever',
    (workload) => {
      const story = evicted({ workload: { kind: workload } }).until(3000);
      expect(story.secondMountS).toBeUndefined();
      expect(story.times('detachWanted')).toEqual([]);
      expect(story.times('multiAttach').length).toBe(workload === 'stateful-set' ? 0 : 1);
    },
  );

  test('a node that comes back takes its eviction back', () => {
    const story = new ModelStory();
    story.machine.setConnected(false);
    story.untilSeen('nodeNotReady').until(story.nowS + 200);
    story.machine.setConnected(true);
    story.until(1500);
    expect(story.times('podTerminating')).toEqual([]);
  });
});

describe('eviction alone', () => {
  test('P1: without a grace period it is a force delete', () => {
    const story = evicted({ workload: { terminationGrace: 0 } });
    story.until(story.nowS + 400);
    expect(story.secondMountS).toBeDefined();
  });

  test.each([
    ['stateful-set', false],
    ['deployment-recreate', true],
  ] as const)('P2: a container that waits pins nothing (%s)', (workload, isMounted) => {
    const story = new ModelStory({ workload: { kind: workload } });
    // The last report says that it waits to be started again.
    for (const pod of story.model.api.pods) story.model.api.setContainersStopped(pod);
    story.machine.setConnected(false);
    story.untilSeen('podTerminating').until(story.nowS + 400);
    expect(story.times('forcedByTimeout')).toHaveLength(1);
    expect(story.secondMountS !== undefined).toBe(isMounted);
  });

  test('P3: declared ReadWriteMany nothing is waited for (Deployment)', () => {
    const fields = {
      workload: { kind: 'deployment-recreate' },
      volume: { accessMode: 'ReadWriteMany' },
    } as const;
    const story = evicted(fields);
    const atS = story.nowS;
    story.until(atS + 30);
    expect(Number(story.secondMountS) - atS).toBeLessThan(15);
  });
});

describe('the control plane', () => {
  test('a new leader begins the wait anew', () => {
    const story = removed();
    story.until(story.nowS + 180);
    story.model.controlPlane.kill();
    const killedS = story.nowS;
    story.untilSeen('controllerLeads');
    expect(story.nowS - killedS).toBeGreaterThan(15);
    expect(story.nowS - killedS).toBeLessThan(23);
    const leadsS = story.nowS;
    story.until(leadsS + 400);
    expect(Number(story.secondMountS) - leadsS).toBeGreaterThan(waitS);
  });

  test('a standby takes over sooner than a process that must start, and waits anew as well', () => {
    const story = removed();
    story.until(story.nowS + 180);
    story.model.controlPlane.failOver();
    const endedS = story.nowS;
    story.untilSeen('controllerLeads');
    expect(story.nowS - endedS).toBeGreaterThan(15);
    expect(story.nowS - endedS).toBeLessThan(20);
    const leadsS = story.nowS;
    story.until(leadsS + 400);
    expect(Number(story.secondMountS) - leadsS).toBeGreaterThan(waitS);
  });

  test('while the leader stands still no wait ends; once it goes on, those that are due do', () => {
    const story = removed();
    story.until(story.nowS + 180);
    story.model.controlPlane.stall('controller-manager');
    story.until(story.nowS + 600);
    expect(story.secondMountS).toBeUndefined();
    story.model.controlPlane.resume('controller-manager');
    const thawedS = story.nowS;
    story.until(thawedS + 60);
    expect(story.times('controllerEnded')).toEqual([]);
    // As on kind, twice.
    expect(Number(story.secondMountS) - thawedS).toBeLessThan(10);
  });

  test.each([
    ['api-server', 5, 0],
    ['api-server', 20, 1],
    ['controller-manager', 5, 0],
    ['control-plane', 5, 0],
    ['control-plane', 20, 0],
  ] as const)('%s away for %i s: %i leaders end', (component, outageS, ends) => {
    const story = removed();
    story.until(story.nowS + 100);
    story.model.controlPlane.stall(component);
    story.until(story.nowS + outageS);
    story.model.controlPlane.resume(component);
    story.until(story.nowS + 60);
    expect(story.times('controllerEnded')).toHaveLength(ends);
  });

  test('while the API stands still nothing moves', () => {
    const story = removed();
    story.model.controlPlane.stall('api-server');
    story.until(story.nowS + 1000);
    expect(story.times('podScheduled')).toEqual([]);
  });

  test('a VolumeAttachment deleted by hand is missed within a minute', () => {
    const story = evicted({ workload: { terminationGrace: 0 } });
    story.until(story.nowS + 5);
    story.model.operator.deleteAttachments(story.victim, { stripFinalizers: false });
    const atS = story.nowS;
    story.until(atS + 70);
    expect(story.times('attachmentMissed')).toHaveLength(1);
    expect(Number(story.secondMountS) - atS).toBeLessThan(66);
  });

  test('three nodes of four gone: none is tainted', () => {
    const story = new ModelStory({}, '1', { nodes: 4 });
    for (const node of story.model.nodes.slice(0, 3)) story.model.machine(node).setConnected(false);
    story.until(400);
    expect(story.times('nodeNotReady')).toHaveLength(3);
    const tainted = story.model.api.nodes.filter(({ taints }) =>
      taints.some(({ effect }) => effect === 'NoExecute'),
    );
    expect(tainted.length).toBeLessThan(3);
  });
});

test('the same seed gives the same story, and idle time that is skipped changes nothing', () => {
  const story = (stepS: number): string => {
    const told = new ModelStory({}, '7');
    told.machine.setConnected(false);
    for (let atS = stepS; atS <= 900; atS += stepS) told.until(atS);
    return ['nodeNotReady', 'podTerminating'].map((name) => told.times(name as never)).join();
  };
  expect(story(900)).toBe(story(0.5));
});
