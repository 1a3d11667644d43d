/** Every command's help ends with examples, and each is read by that command's own parser. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { databaseDeclarations } from '../../lib/scenario/databases/index.ts';
import { faultKinds, questionOf } from '../../lib/scenario/faults/index.ts';
import { realStorageCommand } from '../../research/real-storage/command.ts';
import { kernelInitiatorsCommand } from '../../research/kernel-initiators/command.ts';
import { twoKernelsCommand } from '../../research/two-kernels/command.ts';
import { parseArguments } from '../../lib/cli/command.ts';
import { conformanceCommand } from '../../research/conformance/command.ts';
import { falseAlarmsCommand } from '../../research/false-alarms/command.ts';
import { claimsCommand } from '../../research/claims/command.ts';
import { experimentCommand } from '../../lib/cli/flags/flags.ts';
import { requestOf } from '../../lib/cli/flags/request.ts';
import { commands } from '../../lib/cli/forcedetach.ts';
import { readFlags } from '../support/read-flags.ts';
import { typed } from '../../lib/core/program.ts';
import { parseScenario } from '../../lib/scenario/scenario.ts';

function helpOf(command: Command): string {
  const written: string[] = [];
  command.configureOutput({ writeOut: (text) => written.push(text) }).outputHelp();
  return written.join('');
}

/** Words behind the command of each example. */
function examplesOf(command: Command): readonly (readonly string[])[] {
  const [, examples = ''] = helpOf(command).split('\nExamples:\n');
  const typed = `  ${command.name()}`;
  return examples
    .split('\n')
    .filter((line) => line.startsWith(typed))
    .map((line) => line.slice(typed.length).split(' > ')[0]?.split(' ').filter(Boolean) ?? []);
}

type Make = () => Command | Promise<Command>;
const research: Readonly<Record<string, Make>> = {
  'kernel-initiators': kernelInitiatorsCommand,
  claims: claimsCommand,
  'two-kernels': twoKernelsCommand,
  'real-storage': realStorageCommand,
  conformance: conformanceCommand,
  'false-alarms': falseAlarmsCommand,
};
const made: [string, Make][] = [
  ...Object.entries(commands).map(([name, { load }]): [string, Make] => [name, load]),
  ...Object.entries(research),
];

test.each(made)('%s', async (_, make) => {
  const examples = examplesOf(await make()).filter((words) => !words.includes('--help'));
  expect(examples.length).toBeGreaterThan(0);
  for (const words of examples)
    parseArguments(
      (await make()).action(() => undefined),
      words,
    );
});

test.each(made)('%s prints no default as JSON', async (_, make) => {
  expect(helpOf(await make())).not.toMatch(/\(default:\s+[[{]/);
});

test.each(faultKinds)('an experiment with %s', (fault) => {
  const about = { name: fault, question: questionOf(fault), fault: { kind: fault } } as const;
  const command = experimentCommand(
    typed(about.name),
    parseScenario({ ...about, expected: ['safe'] }),
  );
  const examples = examplesOf(command);
  expect(examples.length).toBeGreaterThan(1);
  for (const words of examples)
    expect(requestOf(about, readFlags(words), new Date(0))).toBeDefined();
});

test.each(databaseDeclarations)('an experiment on database $name', ({ name: database }) => {
  const about = {
    name: 'a',
    question: '?',
    fault: { kind: 'network-partition' },
    database: { kind: database },
  } as const;
  const command = experimentCommand(
    typed(about.name),
    parseScenario({ ...about, expected: ['safe'] }),
  );
  const examples = examplesOf(command);
  expect(examples.length).toBeGreaterThan(1);
  for (const words of examples) {
    const { flags } = requestOf(about, readFlags(words), new Date(0));
    // Without an engine `auto` is the model, which has no groups.
    if (database === 'group-replication') expect(flags.cluster).toBe('kind');
    else expect(flags).toBeDefined();
  }
});

test('what lies in this project is there', async () => {
  const all = await Promise.all(made.map(async ([, make]) => examplesOf(await make())));
  const paths = all.flat(2).filter((word) => /^(experiments|reports\/samples)\//.test(word));
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
