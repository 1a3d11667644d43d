/** House rules that no linter has: sizes, purpose comments, and nothing of any one machine. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { $ } from '../lib/engine/shell.ts';

const root = join(import.meta.dirname, '..');
const untracked = ['node_modules', '.git', 'coverage', 'dist', '.cache', 'reports'];

/** Every file that is or could be tracked, relative to the root. */
const files = readdirSync(root, { withFileTypes: true })
  .filter(({ name }) => !untracked.includes(name))
  .flatMap((entry) =>
    entry.isDirectory()
      ? readdirSync(join(root, entry.name), { recursive: true, withFileTypes: true })
          .filter((each) => each.isFile())
          .map((each) => join(each.parentPath, each.name).slice(root.length + 1))
      : [entry.name],
  )
  .filter((file) => !file.endsWith('.log'));
const isGenerated = (file: string): boolean => /(^|\/)gen\//.test(file);
const code = files.filter((file) => /\.(ts|mjs|css)$/.test(file) && !isGenerated(file));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const linesOf = (text: string): number => text.trimEnd().split('\n').length;

test('there is something to look at', () => {
  expect(code.length).toBeGreaterThan(50);
});

test('no file of code is longer than 250 lines, no test than 300', () => {
  const most = (file: string): number => (/^test\/|\.test\.ts$/.test(file) ? 300 : 250);
  const long = code.map((file) => [file, linesOf(read(file))] as const);
  expect(long.filter(([file, lines]) => lines > most(file))).toEqual([]);
});

test('every file of the library begins with its purpose', () => {
  const library = code.filter((file) => /^lib\/.*\.(ts|mjs)$/.test(file));
  const silent = library.filter(
    (file) =>
      !file.endsWith('.test.ts') &&
      !read(file)
        .replace(/^#!.*\n/, '')
        .startsWith('/**'),
  );
  expect(silent).toEqual([]);
});

test('experiments hold no logic: at most 30 lines', () => {
  const experiments = files.filter((file) => /^experiments\/.*\.mjs$/.test(file));
  expect(experiments.length).toBeGreaterThan(1);
  const long = experiments.map((file) => [file, linesOf(read(file))] as const);
  expect(long.filter(([, lines]) => lines > 30)).toEqual([]);
});

test('commands are run by lib/engine/shell.ts, which gives them no stdin', () => {
  const own = 'lib/engine/shell.ts';
  const others = code.filter((file) => /import \{ (.*, )?\$\W.* from 'zx'/.test(read(file)));
  expect(others).toEqual([own]);
});

/** Hosts that anybody may be sent to. Packages come from wherever the machine says. */
const publicHosts =
  'localhost 127.0.0.1 jepsen.io www.w3.org json-schema.org github.com docs.netapp.com scod.hpedev.io kubernetes.io nodejs.org ' +
  'kind.sigs.k8s.io dev.mysql.com docs.docker.com www.apache.org kubernetes.default.svc';

/** Text that is ours: no lock files, no licences, nothing generated. */
const texts = files.filter(
  (file) => !isGenerated(file) && !/package-lock\.json$|go\.sum$|^LICENSE/.test(file),
);

test('git holds nothing that .gitignore leaves to `report.mjs`', async () => {
  const held = await $({
    cwd: root,
    quiet: true,
  })`git ls-files --cached --ignored --exclude-standard`;
  expect(held.stdout).toBe('');
});

test('no package host and no mirror is named', () => {
  const named = texts.flatMap((file) =>
    [...read(file).matchAll(/https?:\/\/([A-Za-z0-9.-]+)/g)]
      .map(([, host = '']) => host)
      .filter((host) => !publicHosts.split(' ').includes(host))
      .map((host) => `${file}: ${host}`),
  );
  expect(named).toEqual([]);
});

test('no path of the machine that it was written on is named', () => {
  const machinePath = new RegExp(['/work', '/(main|shared)\\b|/home', '/[a-z]+/'].join(''));
  expect(texts.filter((file) => machinePath.test(read(file)))).toEqual([]);
});

test('the lock file names no host: packages come from the configured registry', () => {
  expect(read('package-lock.json')).not.toContain('"resolved"');
  expect(read('package-lock.json')).not.toMatch(/https?:\/\/(?!.*(opencollective|github|bjornlu))/);
});

/** Lines that do something: comments may name what they like. */
const doing = (file: string): string[] =>
  read(file)
    .split('\n')
    .filter((line) => !/^\s*(\/?\*|\/\/)/.test(line));
const commands = code.filter(
  (file) => /^(lib|bench|scripts|experiments)\//.test(file) && !file.endsWith('.test.ts'),
);

test('the engine’s command is named in lib/engine alone, kind’s in one file', () => {
  const kind = 'lib/cluster/kind/create/kind-command.ts';
  const naming = (word: RegExp): string[] =>
    commands.filter((file) => doing(file).some((line) => word.test(line)));
  const engine = naming(/['"`]docker['"` ]|\bdocker [a-z]/);
  expect(engine).toContain('lib/engine/commands.ts');
  // Which of its providers kind takes is kind's own business.
  expect(engine.filter((file) => !file.startsWith('lib/engine/') && file !== kind)).toEqual([]);
  expect(naming(/\[kind, /)).toEqual([kind]);
});
