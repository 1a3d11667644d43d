import { expect, test } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import type { PodRef } from '../history/evidence.ts';
import { observed } from '../history/observations.ts';
import type { Unstamped } from '../history/observers.ts';
import type { RowRecord } from '../history/records.ts';
import { recreate } from './converge.ts';
import { Sightings } from '../judge/timeline/story.ts';
import { mysql } from '../mysql/database.ts';

test('drains the other nodes, then deletes each pod once the one before is Ready', async () => {
  const clock = new VirtualClock();
  const sightings = new Sightings(mysql);
  const asked: string[] = [];
  const steps: string[] = [];
  let pods = 1;
  const pod = (): PodRef => ({ name: 'mysql-0', uid: `u${pods}`, node: 'a' });
  const replace =
    (how: string) =>
    async (old: PodRef): Promise<void> => {
      asked.push(`${how} ${old.uid}`);
      pods += 1;
      await clock.sleep(3_000);
      sightings.see({
        ...{ type: 'observation', source: 'api', t: clock.nowMs(), node: 'a' },
        ...{ name: observed.podReady, data: { uid: pod().uid, pod: 'mysql-0', ready: true } },
      });
    };
  const done = recreate({
    scenario: { fault: { recreations: 3 } },
    testbed: {
      clock,
      nodes: ['a', 'b'],
      kubernetes: {
        drain: async (node) => {
          asked.push(`drain ${node}`);
          return { drained: true, answer: '' };
        },
        uncordon: () => Promise.resolve(),
      },
    },
    pods: {
      databasePod: () => Promise.resolve(pod()),
      deletePod: replace('delete'),
      forceDelete: replace('force'),
    },
    recorder: {
      record: (record: Unstamped | RowRecord) => {
        if (record.type === 'action') steps.push(`${record.name}: ${record.step}`);
      },
    },
    sightings: [sightings],
    victim: pod(),
    signal: new AbortController().signal,
    onProgress: () => undefined,
  });
  await clock.advance(60_000);
  await done;
  expect(asked).toEqual(['drain b', 'delete u1', 'force u2', 'delete u3']);
  expect(steps.slice(2)).toEqual([
    ...['delete the pod: begin', 'delete the pod: done'],
    ...['delete the pod by force: begin', 'delete the pod by force: done'],
    ...['delete the pod: begin', 'delete the pod: done'],
  ]);
});
