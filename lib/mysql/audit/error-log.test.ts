import { expect, test } from 'vitest';
import { alarmingLines } from './mysqld.ts';

const note = '2026-11-22T16:40:00Z 0 [System] [MY-010116] [Server] mysqld starting';
const broken = '2026-11-22T16:40:01Z 0 [ERROR] [MY-011899] [InnoDB] [FATAL] Page 7 is broken';

test('keeps what alarms, cut to a length, and nothing else', async () => {
  const long = `${broken} ${'x'.repeat(1000)}`;
  const signal = '2026-11-22T16:40:02Z UTC - mysqld got signal 6 ;';
  expect(await alarmingLines([note, broken, '', long, signal])).toEqual([
    broken,
    long.slice(0, 500),
    signal,
  ]);
});
