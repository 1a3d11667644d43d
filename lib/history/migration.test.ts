import { expect, test } from 'vitest';
import { completeScenario } from '../scenario/scenario.ts';
import { replayOf } from './migration.ts';

const scenario = completeScenario({
  name: 'n',
  question: '?',
  fault: { kind: 'network-partition' },
  expected: ['safe'],
  remedy: { kind: 'none' },
  timers: { forceDetach: 'off' },
});

test.each([
  ['--force-detach off --force-detach-after 30s --grace 10s', '--force-detach off --grace 10s'],
  ['--force-detach-after=30s --remedy none --remedy-at 5s', '--remedy none'],
  ['--no-reboot --flap-down 70s --no-reboot', ''],
  ['--remedy none --keep-writes --horizon 2m', '--remedy none --keep-writes --horizon 2m'],
])('a command with %s is told as %s', (recorded, told) => {
  const command = (flags: string): string =>
    ['npx zx experiments/network-partition.mjs', flags].filter(Boolean).join(' ');
  expect(replayOf(command(recorded), scenario)).toBe(command(told));
});
