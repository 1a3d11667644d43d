/** The help of an experiment shows what it uses, and how. */
import { combined } from '../../scenario/fields.ts';
import { expect, test } from 'vitest';
import { scenarioSchema, type Scenario, type ScenarioInput } from '../../scenario/scenario.ts';
import { faultKinds } from '../../scenario/faults/index.ts';
import { readFlags } from '../../../test/support/read-flags.ts';
import { helpOf as printedHelp } from './flags.ts';
import { helpBaseOf } from './request.ts';

const definition = { name: 'made-up', question: 'Is it?', expected: ['safe'] } as const;

function helpOf(fault: Scenario['fault']['kind'], words = '--help'): string {
  const parsed = readFlags(words.split(' '));
  const base = helpBaseOf({ ...definition, fault }, parsed);
  return printedHelp('npx forcedetach run made-up', base, parsed.flags.helpAll);
}

const flagsIn = (help: string): readonly string[] =>
  [...help.matchAll(/^ {2}(--[a-z-]+)/gm)].map(([, flag = '']) => flag);

const ofKinds = [
  ['--cut-after', '--disk ack-early'],
  ['--watcher-check', '--disk exclusive'],
  ['--file-locks', '--disk shared-file'],
  ['--self-fence-after', '--self-fence lease'],
  ['--untaint-at', '--remedy out-of-service'],
  ['--remedy-at', '--remedy drain'],
  ['--also-for', '--also api-outage'],
] as const;

test.each(ofKinds)('%s is shown with %s on the line, before or behind --help', (flag, choosing) => {
  const help = helpOf('node-crash');
  expect(flagsIn(help)).not.toContain(flag);
  for (const words of [`${choosing} --help`, `-h ${choosing}`]) {
    expect(flagsIn(helpOf('node-crash', words))).toContain(flag);
  }
});

test('--help-all shows every flag, and --help says how many it leaves out', () => {
  const shown = flagsIn(helpOf('node-crash'));
  const all = flagsIn(helpOf('node-crash', '--help-all'));
  for (const [flag] of ofKinds) expect(all).toContain(flag);
  expect(helpOf('node-crash')).toMatch(
    new RegExp(`--help-all +show ${all.length - shown.length} more`),
  );
});

test.each(faultKinds)('%s: no flag is shown whose every other value would be refused', (fault) => {
  const shown = flagsIn(helpOf(fault));
  const others: Readonly<Record<string, Partial<ScenarioInput>>> = {
    'reboot-at': { fault: { rebootAt: 1 } },
    'cpu-share': { fault: { cpuShare: 0.5 } },
    'flap-down': { fault: { down: 1 } },
    'flap-up': { fault: { up: 1 } },
    'power-loss': { fault: { powerLoss: 'drops' } },
    'server-kills': { fault: { serverKills: 2 } },
    ...{ link: { fault: { link: 'stalls' } }, also: { also: { kind: 'api-outage' } } },
  };
  for (const [flag, fields] of Object.entries(others)) {
    const { success } = scenarioSchema.safeParse(
      combined({ ...definition, fault: { kind: fault } }, fields),
    );
    expect({ flag, shown: shown.includes(`--${flag}`) }).toEqual({ flag, shown: success });
  }
});
