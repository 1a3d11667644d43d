/** The help of an experiment shows what it uses, and how. */
import { expect, test } from 'vitest';
import { parseScenario, type Scenario } from '../experiment/scenario.ts';
import { experimentCommand } from './flags.ts';

const script = ['experiments/made-up.mjs'];

function helpOf(fault: Scenario['fault']): string {
  const base = parseScenario({ name: 'made-up', question: 'Is it?', fault, expected: ['safe'] });
  const written: string[] = [];
  experimentCommand(base, script)
    .configureOutput({ writeOut: (text) => written.push(text) })
    .outputHelp();
  return written.join('');
}

test('the flags of another fault are left out', () => {
  expect(helpOf('node-reboot')).toContain('--reboot-at');
  expect(helpOf('node-reboot')).not.toMatch(/--(flap-down|cpu-share|link) /);
  expect(helpOf('network-partition')).toContain('--link');
  expect(helpOf('network-partition')).not.toMatch(/--(reboot-at|no-reboot)/);
});

test('it ends with commands to paste', () => {
  const [, examples = ''] = helpOf('node-crash').split('Examples:');
  expect(examples).toContain('npx zx experiments/made-up.mjs --cluster sim');
});
