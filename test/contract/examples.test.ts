/** Every command's help ends with examples, and each is read by that command's own parser. */
import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { databaseKinds } from '../../lib/database/kinds/index.ts';
import { faultKinds, questionOf } from '../../lib/faults/kinds/index.ts';
import { twoKernelsCommand } from '../../research/two-kernels/command.ts';
import { parseArguments } from '../../lib/cli/command.ts';
import { cleanCommand } from '../../lib/cli/commands/clean.ts';
import { conformanceCommand } from '../../research/conformance/command.ts';
import { crashStatesCommand } from '../../lib/cli/commands/crash-states.ts';
import { doctorCommand } from '../../lib/cli/commands/doctor.ts';
import { expectationsCommand } from '../../lib/cli/commands/expectations.ts';
import { exportCommand } from '../../lib/cli/commands/export.ts';
import { falseAlarmsCommand } from '../../research/false-alarms/command.ts';
import { mergeCommand } from '../../lib/cli/commands/merge-batches.ts';
import { replayCommand } from '../../lib/cli/commands/replay.ts';
import { reportCommand } from '../../lib/cli/commands/report.ts';
import { claimsCommand } from '../../research/claims/command.ts';
import { experimentCommand } from '../../lib/cli/flags/flags.ts';
import { matrixCommand } from '../../lib/cli/flags/matrix-flags.ts';
import { probeCommand } from '../../lib/cli/flags/probe-flags.ts';
import { requestOf } from '../../lib/cli/flags/request.ts';
import { sweepCommand } from '../../lib/cli/flags/sweep-flags.ts';
import { commands } from '../../lib/cli/flags/typed.ts';
import { parseScenario } from '../../lib/experiment/scenario.ts';

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
    .map((line) => line.slice(typed.length).split(' ').filter(Boolean));
}

const made: Readonly<Record<string, () => Command>> = {
  matrix: matrixCommand,
  'merge-batches': mergeCommand,
  sweep: sweepCommand,
  report: reportCommand,
  export: exportCommand,
  claims: claimsCommand,
  probe: probeCommand,
  doctor: doctorCommand,
  clean: cleanCommand,
  'crash-states': crashStatesCommand,
  'two-kernels': twoKernelsCommand,
  conformance: conformanceCommand,
  expectations: expectationsCommand,
  'false-alarms': falseAlarmsCommand,
};

test('no command is forgotten', () => {
  const asked = [...Object.keys(made), 'replay'];
  expect(asked).toEqual(expect.arrayContaining(Object.keys(commands)));
});

test.each(Object.entries(made))('%s', (_, make) => {
  const examples = examplesOf(make());
  expect(examples.length).toBeGreaterThan(0);
  for (const words of examples) parseArguments(make(), words);
});

test.each(faultKinds)('an experiment with %s', (fault) => {
  const about = { name: fault, question: questionOf(fault), fault } as const;
  const script = [`experiments/${fault}.mjs`];
  const command = experimentCommand(parseScenario({ ...about, expected: ['safe'] }), script);
  const examples = examplesOf(command);
  expect(examples.length).toBeGreaterThan(1);
  for (const words of examples) expect(requestOf(about, words, new Date(0))).toBeDefined();
});

test.each(databaseKinds)('an experiment on database %s', (database) => {
  const about = { name: 'a', question: '?', fault: 'network-partition', database } as const;
  const script = ['experiments/a.mjs'];
  const command = experimentCommand(parseScenario({ ...about, expected: ['safe'] }), script);
  const examples = examplesOf(command);
  expect(examples.length).toBeGreaterThan(1);
  for (const words of examples) {
    const { flags } = requestOf(about, words, new Date(0)) ?? {};
    // Without an engine `auto` is the model, which has no groups.
    if (database === 'group-replication') expect(flags?.cluster).toBe('kind');
    else expect(flags).toBeDefined();
  }
});

test('replay: files that are there, and flags of an experiment', () => {
  const examples = examplesOf(replayCommand());
  expect(examples.length).toBeGreaterThan(1);
  const command = experimentCommand(
    parseScenario({ name: 'a', question: '?', fault: 'node-crash', expected: ['safe'] }),
    ['experiments/replay.mjs'],
  );
  for (const [, ...words] of examples.filter((each) => !each.includes('--help'))) {
    parseArguments(command, words);
  }
});

test('what lies in this project is there', () => {
  const all = [...Object.values(made), replayCommand].flatMap((make) => examplesOf(make()));
  const paths = all.flat().filter((word) => /^(experiments|reports\/samples)\//.test(word));
  expect(paths.length).toBeGreaterThan(5);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
