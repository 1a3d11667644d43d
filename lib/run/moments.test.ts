/** Moments come at their time or event, and never after the watch is over. */
import { expect, test } from 'vitest';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { observed, observationOf, type ObservedName } from '../history/observations.ts';
import { cameForAll, watchWhile } from './moments.ts';
import { Sightings } from '../judge/timeline/story.ts';
import type { When } from '../core/time.ts';
import { mysql } from '../mysql/database.ts';

const victim = { name: 'mysql-0', uid: 'u1', node: 'a' };
const faultAtMs = 0;
const watchMs = 10_000;

/** When the moment came, while the victim's pod is gone at 2 s and its attachment at 6 s. */
async function cameAt(moment: When, forMs?: number): Promise<number | undefined> {
  const clock = new VirtualClock();
  const sightings = new Sightings(mysql);
  sightings.begin(victim);
  const see = (t: number, name: ObservedName): void =>
    sightings.see(
      observationOf({
        ...{ type: 'observation', t, source: 'api', name, node: victim.node },
        data: { uid: victim.uid, pod: 'p', attachment: 'a', volume: 'v' },
      }),
    );
  let came: number | undefined;
  const watched = watchWhile(
    { clock, sightings: [sightings], faultAtMs, forceDetachAfterMs: 4_000 },
    async (moments) => {
      if (!(await moments.reached(moment))) return;
      if (forMs === undefined || (await moments.passed(forMs))) came = clock.nowMs();
    },
    () => clock.sleep(watchMs),
  );
  await clock.advance(1_000);
  see(1_000, observed.podTerminating);
  await clock.advance(1_000);
  see(2_000, observed.podGone);
  await clock.advance(4_000);
  see(6_000, observed.attachmentDeleting);
  await clock.advance(watchMs);
  await watched;
  return came;
}

test.each<readonly [When, number | undefined, number | undefined]>([
  [500, undefined, 500],
  ['terminating', undefined, 1_000],
  ['pod-gone', undefined, 2_000],
  ['half-wait', undefined, 4_000],
  ['force-detach', undefined, 6_000],
  [20_000, undefined, undefined],
  ['pod-gone', 3_000, 5_000],
  ['pod-gone', 30_000, undefined],
])('%s, and %s ms later: %s', async (moment, forMs, expected) => {
  const came = await cameAt(moment, forMs);
  if (expected === undefined) expect(came).toBeUndefined();
  // Looked for every 100 ms.
  else expect(Math.abs((came ?? 0) - expected)).toBeLessThanOrEqual(200);
});

test('it goes on until what was begun has ended, also where the watch fails', async () => {
  const said: string[] = [];
  const watching = watchWhile(
    { clock: new VirtualClock(), sightings: [], faultAtMs, forceDetachAfterMs: 0 },
    async (moments) => void said.push(String(await moments.reached('pod-gone'))),
    () => Promise.reject(new Error('Ctrl-C')),
  );
  await expect(watching).rejects.toThrow('Ctrl-C');
  expect(said).toEqual(['false']);
});

test.each([
  ['the last of the volumes', [1_000, 2_000], 2_000],
  ['none that it never comes for, but for some seconds', [1_000, undefined], 11_000],
])('what is done once for all waits for %s', async (_, evictedAtMs, expected) => {
  const clock = new VirtualClock();
  const sightings = evictedAtMs.map((_, at) => {
    const one = new Sightings(mysql);
    one.begin({ ...victim, uid: `u${at}` });
    return one;
  });
  const looking = { clock, sightings, faultAtMs, forceDetachAfterMs: 4_000 };
  const { signal } = new AbortController();
  let came: number | undefined;
  const waited = cameForAll('terminating', looking, { deadlineMs: 60_000, signal }).then((has) => {
    if (has) came = clock.nowMs();
  });
  for (let t = 100; t <= 20_000; t += 100) {
    await clock.advance(100);
    for (const [at, one] of sightings.entries()) {
      if (t !== evictedAtMs[at]) continue;
      const seen = { type: 'observation', t, source: 'api', node: victim.node } as const;
      one.see({ ...seen, name: observed.podTerminating, data: { uid: `u${at}`, pod: 'p' } });
    }
  }
  await waited;
  expect(Math.abs((came ?? 0) - expected)).toBeLessThanOrEqual(200);
});
