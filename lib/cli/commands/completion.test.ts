/** The scripts complete in a real bash what the commands take; the other shells' name the same words. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { perform } from '../command.ts';
import { commands } from '../forcedetach.ts';
import { anyExperiment } from '../flags/flags.ts';

const folder = mkdtempSync(join(tmpdir(), 'forcedetach-completion-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function scriptFor(shell: string): Promise<string> {
  const stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const command = (await commands['completion']?.load()) ?? expect.fail();
  await perform(command, [shell]);
  const text = stdout.mock.calls.map(([chunk]) => String(chunk)).join('');
  stdout.mockRestore();
  return text;
}

const scriptPath = join(folder, 'forcedetach.bash');
writeFileSync(scriptPath, await scriptFor('bash'));

/** What bash offers for the last word. */
function offered(...words: readonly string[]): string[] {
  const typed = ['forcedetach', ...words];
  const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _forcedetach; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const answer = execFileSync('bash', ['-c', script, 'bash', scriptPath, ...typed], {
    encoding: 'utf8',
  });
  return answer.split('\n').filter((line) => line !== '');
}

test('bash completes commands, experiments, flags and their values', async () => {
  expect(offered('')).toEqual(expect.arrayContaining([...Object.keys(commands), '--version']));
  expect(offered('run', 'zo')).toEqual(['zombie']);
  expect(offered('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(offered('matrix', '--sh')).toEqual(['--shard', '--short']);
  expect(offered('probe', '-')).toContain('-s');
  const { options } = anyExperiment('run');
  for (const { long, argChoices = [] } of options.filter(({ argChoices }) => argChoices)) {
    expect(offered('run', long ?? '', ''), long).toEqual(argChoices);
  }
  expect(offered('run', '--').toSorted()).toEqual(
    options.flatMap(({ long }) => long ?? []).toSorted(),
  );
});

test('the keys that somebody types are completed, also behind an equals sign', () => {
  const keys = [
    `source ${scriptPath}; forcedetach() { echo "got $*"; }`,
    'forcedetach run --fault=flapp\t --disk pend\t zom\t',
    'exit',
  ];
  const output = execFileSync('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'], {
    input: `${keys.join('\n')}\n`,
    encoding: 'utf8',
  });
  expect(output).toContain('got run --fault=flapping-partition --disk pending-while-busy zombie');
});
