import { expect, test } from 'vitest';
import { parseForcedDetaches } from './cluster.ts';

const name = 'attach_detach_controller_attachdetach_controller_forced_detaches';

test('the counters are read by reason', () => {
  const metrics = [
    `# TYPE ${name} counter`,
    `${name}{reason="out-of-service"} 2`,
    `${name}{reason="timeout"} 1`,
    'workqueue_depth{name="node"} 7',
  ].join('\n');
  expect(parseForcedDetaches(metrics)).toEqual({ timeout: 1, 'out-of-service': 2 });
});

test('a counter that never moved is zero', () => {
  expect(parseForcedDetaches('')).toEqual({ timeout: 0, 'out-of-service': 0 });
});
