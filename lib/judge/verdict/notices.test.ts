/** What an operator is told is counted by who told it; an ordinary fail-over tells nothing of harm. */
import { describe, expect, test } from 'vitest';
import { runRecord, see } from '../../../test/support/run-record.ts';
import { damage } from '../checkers/checker.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/records.ts';
import { tellStory, type Story } from '../timeline/story.ts';
import { firstTold, noticedBy, noticeInWords, noticesOf } from './words.ts';
import { mysql } from '../../mysql/database.ts';

const event = (t: number, reason: string, message: string, more: object = {}): SmallRecord =>
  see(t, observed.event, '', {
    ...{ object: 'Pod/mysql-0', reason, message, type: 'Warning', from: 'kubelet' },
    ...more,
  });

/** A fault on `a` at 10 s, healed at 500 s. */
const storyOf = (...records: readonly SmallRecord[]): Story =>
  tellStory(
    [
      runRecord(),
      { type: 'action', t: 10_000, actor: 'fault', name: 'freeze', step: 'begin', node: 'a' },
      { type: 'phase', t: 500_000, phase: 'heal' },
      ...records,
    ].toSorted((a, b) => a.t - b.t) as SmallRecord[],
    mysql,
  );

const ordinary = [
  event(60_000, 'NodeNotReady', 'Node is not ready'),
  event(70_000, 'FailedAttachVolume', 'Multi-Attach error for volume "v"', {
    from: 'attachdetach',
  }),
  see(71_000, observed.podCreated, '', { pod: 'mysql-0', uid: 'b' }),
  event(72_000, 'Unhealthy', 'Startup probe failed: connection refused'),
  event(73_000, 'Unhealthy', 'Readiness probe failed: connection refused'),
  see(74_000, observed.podReady, 'b', { pod: 'mysql-0', uid: 'b', ready: true }),
  see(80_000, observed.deviceCut, 'a'),
  see(81_000, observed.serverLog, 'a', { line: '[ERROR] [MY-013622] fsync() returned EIO' }),
];

const lost = damage({
  ...{ code: 'LEDGER_LOST', image: 'first', safety: 'lost', loud: false },
  ...{ summary: '4 commits are gone', evidence: [] },
});

test('what any fail-over shows is told, and is no word of harm', () => {
  const story = storyOf(...ordinary);
  const notices = noticesOf(story, [lost]);
  expect(notices.map(({ by, what, count }) => [by, what, count])).toEqual([
    ['kubelet', 'event NodeNotReady', 1],
    ['attachdetach', 'event FailedAttachVolume', 1],
    ['kubelet', 'event Unhealthy (startup probe)', 1],
    ['kubelet', 'event Unhealthy (readiness probe)', 1],
    ['mysqld', 'errors in the error log on a', 1],
  ]);
  expect(notices.filter(({ ofHarm }) => ofHarm)).toEqual([]);
  expect(noticedBy(story, [lost], notices)).toBe('silent');
  expect(noticedBy(story, [], notices)).toBeNull();
});

const refused = (t: number): SmallRecord =>
  see(t, observed.csiCall, 'b', { call: 'NodeStageVolume', error: 'fsck of /dev/loop2: exit 4' });

describe('each of these is a word of harm', () => {
  test.each([
    ['a refused mount', refused(90_000)],
    ['its event', event(90_000, 'FailedMount', 'MountVolume.MountDevice failed for volume "v"')],
    ['a probe that fails of one that served', event(90_000, 'Unhealthy', 'Readiness probe failed')],
    ['a liveness probe', event(90_000, 'Unhealthy', 'Liveness probe failed')],
    ['a crash loop', event(90_000, 'BackOff', 'Back-off restarting failed container')],
    ['a driver that cannot attach', event(90_000, 'FailedAttachVolume', 'rpc error: busy')],
    ['an error of the successor', see(90_000, observed.serverLog, 'b', { line: '[ERROR] page' })],
  ])('%s', (_, record) => {
    const story = storyOf(...ordinary, record);
    const notices = noticesOf(story, [lost]);
    expect(notices.filter(({ ofHarm }) => ofHarm)).toHaveLength(1);
    expect(noticedBy(story, [lost], notices)).toBe('loud');
  });
});

test('refusals are counted with their times, before the heal and after it', () => {
  const times = [75_200, 76_000, 78_000, 600_000];
  const notices = noticesOf(storyOf(...times.map((t) => refused(t))), []);
  expect(notices.map(({ by, count, firstS, when }) => [by, count, firstS, when])).toEqual([
    ['fsck', 3, 65.2, 'before the heal'],
    ['fsck', 1, 590, 'after the heal'],
  ]);
  const [first, later] = notices;
  expect(first && noticeInWords(first)).toBe(
    'the mount on b was refused (fsck, 3 times from +65.2 s)',
  );
  expect(later && noticeInWords(later)).toBe(
    'the mount on b was refused (fsck, at +590.0 s, after the heal)',
  );
});

test('an event that counts up is counted once each, and not from before the fault', () => {
  const backOff = (t: number, count: number): SmallRecord =>
    event(t, 'BackOff', 'Back-off', { count });
  const notices = noticesOf(storyOf(backOff(5000, 7), backOff(20_000, 8), backOff(30_000, 12)), []);
  expect(notices).toMatchObject([{ what: 'event BackOff', count: 5 }]);
});

test('a check of a copy comes after what was told in time; what nobody runs unasked is no alarm', () => {
  const check = (code: string, image: string, loud: boolean) =>
    damage({ code, image, safety: 'corrupt', loud, summary: 'bad', evidence: ['line'] });
  const found = [
    check('PAGE_CHECKSUM_BAD', 'first', false),
    check('FSCK_ERRORS', 'first', true),
    check('FSCK_ERRORS', 'second', true),
  ];
  const notices = noticesOf(storyOf(), found);
  expect(notices.map(({ by, when, ofHarm }) => [by, when, ofHarm])).toEqual([
    ['fsck', 'before the heal', true],
    ['fsck', 'after the heal', true],
    ['innochecksum', 'before the heal', false],
  ]);
  expect(firstTold(notices)).toMatchObject({ by: 'fsck', when: 'before the heal' });
  expect(firstTold(noticesOf(storyOf(refused(400_000)), found))).toMatchObject({ firstS: 390 });
  expect(firstTold([])).toBeUndefined();
});

test('of version 3 on `silent` needs somebody who heard the events and the error logs', () => {
  const [run, ...rest] = storyOf().records;
  const story = tellStory([{ ...run, schemaVersion: 3 } as SmallRecord, ...rest], mysql);
  expect(noticedBy(story, [lost], [])).toBeNull();
});

test('a node whose disk was taken away is no witness of harm, after the heal either', () => {
  const backOff = (t: number, node: string): SmallRecord =>
    ({
      ...event(t, 'BackOff', 'Back-off restarting failed container'),
      node,
    }) as SmallRecord;
  const cut = see(80_000, observed.deviceCut, 'a');
  expect(firstTold(noticesOf(storyOf(cut, backOff(510_000, 'a')), []))).toBeUndefined();
  expect(firstTold(noticesOf(storyOf(cut, backOff(510_000, 'b')), []))).toBeDefined();
  // A server says it a moment before the cut is seen.
  const line = see(79_900, observed.serverLog, 'a', { line: '[ERROR] fsync() returned EIO' });
  expect(firstTold(noticesOf(storyOf(line, cut), []))).toBeUndefined();
  const mounted = see(600_000, observed.mounted, 'a', { device: '/dev/loop3' });
  const again = see(601_000, observed.serverLog, 'a', { line: '[ERROR] corrupt page' });
  expect(firstTold(noticesOf(storyOf(cut, mounted, again), []))).toMatchObject({ firstS: 591 });
});
