/** Log and counter of forced detaches, held against the mounts. */
import { expect, test } from 'vitest';
import { see, storyOf } from '../../../test/support/run-record.ts';
import { controlFindings } from '../verdict/findings.ts';
import { csiCalls, observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/records.ts';
import { forcedDetachesOf } from './licence.ts';
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

const codes = (of: Story): string[] => controlFindings(of, []).map(({ code }) => code);

test('a forced detach of a mounted volume, logged and counted, is nothing to remark on', () => {
  const told = story([counter(100, 2), line(59_900), detach, counter(61_000, 3)]);
  expect(forcedDetachesOf(told)).toEqual({
    detaches: [{ node: 'a', atMs: 60_000, wasMounted: true, logged: 'timeout' }],
    logged: { timeout: 1, 'out-of-service': 0 },
    counted: { timeout: 1, 'out-of-service': 0 },
    restarts: 0,
  });
  expect(codes(told)).toEqual([]);
});

test('a detach of a mounted volume that nobody calls forced is noted', () => {
  expect(codes(story([detach]))).toEqual(['FORCED_UNSAID']);
});

test('a counter that a restart set to zero is told apart from the log', () => {
  const told = story([
    counter(100, 0),
    line(59_900),
    detach,
    see(60_100, observed.leaderAcquired),
    see(60_101, observed.leaderAcquired),
    counter(61_000, 0),
  ]);
  const [finding] = controlFindings(told, []);
  expect(finding).toMatchObject({ code: 'FORCED_COUNT_DIFFERS', level: 'note', safety: 'safe' });
  expect(finding?.evidence).toContain('timeout: counter 0, log 1');
  expect(finding?.evidence.at(-1)).toContain('began anew 1 times');
});
