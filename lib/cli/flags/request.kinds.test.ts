/** A flag beside a kind that it does nothing with, and one that brings another kind. */
import { expect, test } from 'vitest';
import { requestOf, type ExperimentDefinition } from './request.ts';

const now = new Date(0);
const definition: ExperimentDefinition = {
  name: 'network-partition',
  fault: 'network-partition',
  remedy: 'force-delete',
};
const request = (...args: string[]): unknown => requestOf(definition, args, now);

test.each([
  ['--remedy none --remedy-at 5s', 'remedy.at'],
  ['--flap-down 70s', 'fault.down'],
  ['--no-reboot', 'fault.reboot'],
  ['--cut-after 10s', 'disk.cutAfter'],
  ['--watcher-check works', 'disk.watcherCheck'],
  ['--also-for 30s', 'also.for'],
  ['--self-fence-after 20s', 'selfFence.after'],
  ['--force-detach off --force-detach-after 360s', 'timers.forceDetachAfter'],
  ['--remedy-at 20m --horizon 1m', 'remedy.at'],
])('%s is refused, be it the default or not', (flags, at) => {
  expect(() => request(...flags.split(' '))).toThrow(`→ at ${at}`);
});

test('a flag that names another kind takes with it what only the experiment’s own had', () => {
  const tainting = {
    ...definition,
    remedy: { kind: 'out-of-service', untaintAt: 'heal' },
  } as const;
  const { scenario } = requestOf(tainting, ['--remedy', 'none'], now) ?? {};
  expect(scenario).toMatchObject({ remedy: 'none', untaintAt: 'end' });
});
