/** House rules that no linter has: files that are named exist, and nothing of any one machine. */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseSync } from 'oxc-parser';
import { expect, test } from 'vitest';
import { $ } from '../lib/kind/engine/shell.ts';
import { committedFiles } from './support/committed.ts';

const root = join(import.meta.dirname, '..');
const files = committedFiles().filter((file) => !file.startsWith('reports/'));
const isGenerated = (file: string): boolean => /(^|\/)gen\//.test(file);
const code = files.filter((file) => /\.(ts|mjs|css)$/.test(file) && !isGenerated(file));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** Comments of our code, whose files are many and parse fast. */
const comments = code
  .filter((file) => /^(lib|research|test|scripts|bench|experiments)\/.*\.(ts|mjs)$/.test(file))
  .flatMap((file) => parseSync(file, read(file)).comments.map(({ value }) => ({ file, value })));

test('a file that a comment names is there', () => {
  const names = new Set(files.map((file) => basename(file)));
  const gone = comments.flatMap(({ file, value }) =>
    [...value.matchAll(/(?<![\w.-])[a-z][\w.-]*\.(?:ts|mjs)\b/g)]
      .filter(([name]) => !names.has(name))
      .map(([name]) => `${file}: ${name}`),
  );
  expect(gone).toEqual([]);
});

test('a path of ours that a page names is there', () => {
  // Decisions speak of their day; NAME, * and … stand for any name.
  const pages = files.filter((file) => file.endsWith('.md') && !file.startsWith('docs/decisions/'));
  const gone = pages.flatMap((page) =>
    [...read(page).matchAll(/`[^`\n]*`/g)]
      .flatMap(([span]) => [
        ...span.matchAll(
          /(?<![\w./-])(?:lib|research|test|experiments|scripts)\/(?:\{[^}]*\}|[\w./*…-])*[\w/}*]/g,
        ),
      ])
      .flatMap(([path]) => alternatives(path))
      .filter((path) => !/NAME|[*…]/.test(path) && !existsSync(join(root, path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(gone).toEqual([]);
});

/** What a path with one pair of braces stands for. */
function alternatives(path: string): string[] {
  const [, before, names, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  return names === undefined ? [path] : names.split(',').map((name) => `${before}${name}${after}`);
}

test('commands are run by lib/kind/engine/shell.ts, which gives them no stdin', () => {
  const own = 'lib/kind/engine/shell.ts';
  const others = code.filter((file) => /import \{ (.*, )?\$\W.* from 'zx'/.test(read(file)));
  expect(others).toEqual([own]);
});

/** Hosts that anybody may be sent to. Packages come from wherever the machine says. */
const publicHosts =
  'localhost 127.0.0.1 jepsen.io www.w3.org json-schema.org github.com docs.netapp.com scod.hpedev.io kubernetes.io nodejs.org ' +
  'longhorn.io cluster-api.sigs.k8s.io kind.sigs.k8s.io access.redhat.com openebs.io dev.mysql.com docs.docker.com www.apache.org kubernetes.default.svc';

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
    .filter((line) => !/^\s*(\/?\*|\/\/|#)/.test(line));
const commands = code.filter(
  (file) => /^(lib|research|bench|scripts|experiments)\//.test(file) && !file.endsWith('.test.ts'),
);

/** Programs for a shell. */
const scripts = files.filter(
  (file) =>
    /^(lib|research|bench|scripts|bin)\//.test(file) &&
    !code.includes(file) &&
    (file.endsWith('.sh') || read(file).startsWith('#!')),
);

test('the engine’s command is named in lib/kind/engine alone, kind’s in one file', () => {
  const kind = 'lib/kind/create/kind-command.ts';
  const naming = (word: RegExp): string[] =>
    commands.filter((file) => doing(file).some((line) => word.test(line)));
  const engine = naming(/['"`]docker['"` ]|\bdocker [a-z]/);
  expect(engine).toContain('lib/kind/engine/commands.ts');
  // Which of its providers kind takes is kind's own business.
  expect(engine.filter((file) => !file.startsWith('lib/kind/engine/') && file !== kind)).toEqual(
    [],
  );
  // Path and text of what builds the node's image are its key: moved, every machine would build anew.
  const building = ['assemble', 'containerd.sh', 'preload'].map(
    (name) => `lib/kind/images/built/node/${name}`,
  );
  expect(scripts.filter((file) => doing(file).some((line) => /\bdocker [a-z]/.test(line)))).toEqual(
    building,
  );
  expect(naming(/\[kind, /)).toEqual([kind]);
});
