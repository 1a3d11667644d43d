/** Log and counter of forced detaches, held against the mounts. */
import { expect, test } from 'vitest';
import { see, storyOf } from '../../../test/support/run-record.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/records.ts';
import { forcedDetachFindings } from './forced-detaches.ts';
import type { Story } from './story.ts';

const counter = (t: number, timeout: number, outOfService = 0): SmallRecord =>
  see(t, observed.forceDetachMetric, '', { timeout, 'out-of-service': outOfService });
const line = (t: number): SmallRecord =>
  see(t, observed.forceDetachLog, '', {
    line: 'maxWaitForUnmountDuration expired, force detaching" node="a"',
  });
const detach = see(60_000, observed.csiCall, 'a', { call: csiCalls.unpublish });

const story = (records: readonly SmallRecord[]): Story =>
  storyOf([see(600, observed.mounted, 'a'), ...records]);

test.each<[string, readonly SmallRecord[], readonly string[]]>([
  [
    'of a mounted volume, logged and counted',
    [counter(100, 2), line(59_900), detach, counter(61_000, 3)],
    [],
  ],
  ['of a mounted volume that nobody calls forced', [detach], ['FORCED_UNSAID']],
  [
    'of a volume that is mounted no more',
    [see(50_000, observed.unmounted, 'a'), line(59_900), detach],
    ['FORCED_WITHOUT_MOUNT'],
  ],
])('a detach %s', (_, records, codes) => {
  expect(forcedDetachFindings(story(records)).map(({ code }) => code)).toEqual(codes);
});

test('a counter that a restart set to zero is told apart from the log', () => {
  const begun = [60_100, 60_101].map((t) => see(t, observed.leaderAcquired));
  const told = story([counter(100, 0), line(59_900), detach, ...begun, counter(61_000, 0)]);
  const [finding] = forcedDetachFindings(told);
  expect(finding).toMatchObject({ code: 'FORCED_COUNT_DIFFERS', level: 'note', safety: 'safe' });
  expect(finding?.evidence).toContain('timeout: counter 0, log 1');
  expect(finding?.evidence.at(-1)).toContain('began anew 1 times');
});
