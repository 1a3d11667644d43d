import { expect, test } from 'vitest';
import { parseLogLine } from './pod-log.ts';

const file = '/var/log/pods/default_mysql-0_6a1f8e5c-0d9b-4b3e/mysql/2.log';

test('a line of a CRI log is told by pod, restart and time', () => {
  const raw = `${file} 2026-11-21T09:00:00.123456789Z stderr F mysqld: ready for connections.`;
  expect(parseLogLine('worker', raw)).toEqual({
    node: 'worker',
    file,
    podUid: '6a1f8e5c-0d9b-4b3e',
    restart: 2,
    wallMs: Date.UTC(2026, 10, 21, 9, 0, 0, 123),
    stream: 'stderr',
    text: 'mysqld: ready for connections.',
  });
});

test('an empty line and a time with an offset are lines too', () => {
  const raw = `${file} 2026-11-21T10:00:00.5+01:00 stdout F `;
  expect(parseLogLine('worker', raw)).toMatchObject({
    text: '',
    wallMs: Date.UTC(2026, 10, 21, 9, 0, 0, 500),
  });
});

test('what is no log line is passed over', () => {
  expect(parseLogLine('worker', 'tail: file truncated')).toBeUndefined();
  expect(parseLogLine('worker', `${file} not-a-time stderr F text`)).toBeUndefined();
});
