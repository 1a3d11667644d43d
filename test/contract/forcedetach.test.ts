/** The package's command in a checkout: lists, starts by name, and refuses what is none. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { commands } from '../../lib/cli/forcedetach.ts';
import { presetNames } from '../../lib/cli/commands/experiment.ts';

const root = join(import.meta.dirname, '../..');

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const forcedetach = (...words: readonly string[]): Promise<Answer> =>
  new Promise((resolve) => {
    const argv = [join(root, 'bin/forcedetach.mjs'), ...words];
    execFile(process.execPath, argv, { cwd: root }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });

test('`run` knows the files that are one experiment, and no other', () => {
  const isExperiment = (file: string): boolean =>
    readFileSync(join(root, 'experiments', file), 'utf8').includes('await experiment({');
  const files = readdirSync(join(root, 'experiments')).filter((file) => file.endsWith('.mjs'));
  expect(presetNames()).toEqual(files.filter(isExperiment).map((file) => basename(file, '.mjs')));
  expect(presetNames().length).toBeGreaterThan(10);
});

test.each([[], ['--help'], ['help']])('%j lists the commands', async (...words) => {
  const { code, stdout } = await forcedetach(...words);
  expect(code).toBe(0);
  for (const word of Object.keys(commands)) {
    expect(stdout).toMatch(new RegExp(`^  ${word} +\\S`, 'm'));
  }
});

test.each([
  ['--cluster sim --fault freeze --dry-run', 'node-crash --cluster sim --fault freeze', 'freeze'],
  ['--dry-run --cluster=sim zombie --rate 5', 'zombie --cluster=sim --rate 5', 'freeze'],
  ['--rate 5 node-reboot --cluster sim --dry-run', 'node-reboot --rate 5', 'node-reboot'],
])('`run %s`: options stand in any order', async (words, asIf, fault) => {
  const { code, stdout, stderr } = await forcedetach('run', ...words.split(' '));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(new RegExp(`fault\\.kind +${fault}`));
  const [name = '', ...flags] = asIf.split(' ');
  const kept = flags.join(' ').replace(/--cluster[ =]sim ?/, '');
  expect(stdout).toContain(`replay: npx forcedetach run ${name} ${kept}`);
});

test('`--version` prints the version that is cited', async () => {
  const cited = readFileSync(join(root, 'CITATION.cff'), 'utf8');
  const [, version] = /^version: (.*)$/m.exec(cited) ?? [];
  for (const word of ['--version', '-V']) {
    expect(await forcedetach(word)).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  }
});

test.each([
  [['nope'], /^UNKNOWN_COMMAND: .*`nope`\n {2}hint: .*matrix.*\n {2}try: {2}npx forcedetach\n$/],
  [['node-crash'], /^UNKNOWN_COMMAND: [^]*\n {2}try: {2}npx forcedetach run node-crash\n$/],
  [['run', 'nope'], /^UNKNOWN_EXPERIMENT: .*`nope`\n {2}hint: .*node-crash/],
  [['run', '--cluster', 'sim'], /^NO_EXPERIMENT: .*\n {2}hint: .*--fault/],
  [['run', '--cluster', 'sim', 'nope'], /^UNKNOWN_EXPERIMENT: .*`nope`/],
  [['run', '--nope', '--fault', 'freeze'], /^BAD_FLAG: .*--nope/],
  [['run', '--cluster', 'moon', '--fault', 'freeze'], /^BAD_FLAG: .*moon/],
  [['matrix', '--nope'], /^BAD_FLAG: [^]*\n {2}try: {2}npx forcedetach matrix --help\n$/],
])('%j is refused in our form', async (words, told) => {
  const { code, stdout, stderr } = await forcedetach(...words);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(told);
});
