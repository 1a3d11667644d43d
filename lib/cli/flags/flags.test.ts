/** The help of an experiment shows what it uses, and how. */
import { expect, test } from 'vitest';
import {
  parseScenario,
  scenarioSchema,
  type Scenario,
  type ScenarioInput,
} from '../../experiment/scenario.ts';
import { faultKinds } from '../../faults/kinds/index.ts';
import { experimentCommand } from './flags.ts';

const script = ['experiments/made-up.mjs'];
const about = { name: 'made-up', question: 'Is it?', expected: ['safe'] } as const;

function helpOf(fault: Scenario['fault']): string {
  const base = parseScenario({ ...about, fault });
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

test.each(faultKinds)('%s: no flag is shown whose every other value would be refused', (fault) => {
  const help = helpOf(fault);
  const shown = (flag: string): boolean =>
    help.includes(` --${flag} `) || help.includes(` --${flag}\n`);
  const others: Readonly<Record<string, Partial<ScenarioInput>>> = {
    'reboot-at': { rebootAt: 1 },
    'cpu-share': { cpuShare: 0.5 },
    'flap-down': { flapDownMs: 1 },
    'flap-up': { flapUpMs: 1 },
    'power-loss': { powerLoss: 'drops' },
    'server-kills': { serverKills: 2 },
    ...{ link: { link: 'stalls' }, also: { also: 'api-outage' } },
  };
  for (const [flag, fields] of Object.entries(others)) {
    const { success } = scenarioSchema.safeParse({ ...about, fault, ...fields });
    expect({ flag, shown: shown(flag) }).toEqual({ flag, shown: success });
  }
});

test('it ends with commands to paste', () => {
  const [, examples = ''] = helpOf('node-crash').split('Examples:');
  expect(examples).toContain('npx zx experiments/made-up.mjs --cluster sim');
});
