/** The package's command in a checkout: lists, starts by name, and refuses what is none. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { asTyped, commands, isExperiment } from '../../lib/cli/flags/typed.ts';
import { committedFiles } from '../support/committed.ts';

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

const files = committedFiles('experiments')
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => basename(file, '.mjs'));

test('`run` knows the files that are one experiment, and no other', () => {
  const runs = files.filter((file) =>
    readFileSync(join(root, `experiments/${file}.mjs`), 'utf8').includes('runExperiment('),
  );
  expect(files.filter(isExperiment)).toEqual(runs);
  expect(files).toEqual(expect.arrayContaining(Object.values(commands).map(({ file }) => file)));
});

test.each([[], ['--help'], ['help']])('%j lists the commands', async (...words) => {
  const { code, stdout } = await forcedetach(...words);
  expect(code).toBe(0);
  for (const word of ['run', ...Object.keys(commands)]) {
    expect(stdout).toMatch(new RegExp(`^  ${word} +\\S`, 'm'));
  }
});

test('`run --fault` needs no name of an experiment', async () => {
  const { code, stdout } = await forcedetach('run', '--fault', 'freeze', '--dry-run');
  expect(code).toBe(0);
  expect(stdout).toMatch(/fault\.kind +freeze/);
  expect(stdout).toContain('replay: npx forcedetach run node-crash --fault freeze ');
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

test('`run` alone lists the experiments', async () => {
  const { code, stdout } = await forcedetach('run');
  expect(code).toBe(0);
  expect(stdout.match(/^ {2}\S+$/gm)?.map((line) => line.trim())).toEqual(
    files.filter(isExperiment),
  );
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

test('every command reads what follows its name, and says how it is typed itself', async () => {
  const answers = Object.keys(commands).map(async (word) => {
    const { code, stdout } = await forcedetach(word, '--help');
    return [word, code, stdout.split(/\s/).slice(0, 4).join(' ')];
  });
  expect(await Promise.all(answers)).toEqual(
    Object.keys(commands).map((word) => [word, 0, `Usage: npx forcedetach ${word}`]),
  );
});

test('an experiment keeps its flags, and its replay is typed alike', async () => {
  const flags = '--cluster sim --seed 0x1F --disk fenced --dry-run'.split(' ');
  const { code, stdout } = await forcedetach('run', 'node-crash', ...flags);
  expect(code).toBe(0);
  expect(stdout).toContain('seed 0x1F');
  expect(stdout).toContain(
    'npx forcedetach run node-crash --disk fenced --cluster sim --seed 0x1F',
  );
});

test('what is typed under zx stays as it is', () => {
  const text =
    'npx zx experiments/node-crash.mjs, npx zx experiments/clean.mjs --all, npx zx research/claims.mjs 8';
  expect(asTyped(text, ['node', 'zx', 'experiments/clean.mjs'])).toBe(text);
  const byCommand = ['node', '/a/node_modules/.bin/forcedetach', 'clean'];
  expect(asTyped(text, byCommand)).toBe(
    'npx forcedetach run node-crash, npx forcedetach clean --all, npx zx research/claims.mjs 8',
  );
  const ofPages = 'npx zx experiments/expectations.mjs';
  expect(asTyped(ofPages, byCommand)).toBe(ofPages);
});
