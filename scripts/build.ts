/**
 * `npm run build`, and by itself before `npm pack`: dist/, laid out as the checkout is, with the library
 * compiled and what it reads beside it. Node runs no TypeScript inside node_modules.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { $ } from '../lib/engine/shell.ts';

/** What the library reads at run time, apart from its own files. */
const data = [
  'docs/expectations.json',
  'docs/measurements.jsonl',
  'docs/reference/drivers.yaml',
  'experiments/matrices',
  'experiments/schedules',
  'manifests',
];

/** Compiled, or for tests only. */
const isCode = (path: string): boolean => /\.(ts|mjs)$/.test(path);

/** The compiler declares all that is imported; users need what the public types are made of. */
function keepTypesOf(entry: string): void {
  const needed = new Set([entry]);
  for (const file of needed) {
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/['"](\.[^'"]+)\.ts['"]/g)) {
      needed.add(`${join(dirname(file), name)}.d.ts`);
    }
  }
  for (const file of globSync('dist/**/*.d.ts')) if (!needed.has(file)) rmSync(file);
}

rmSync('dist', { recursive: true, force: true });
await $({ quiet: true })`tsc --project tsconfig.build.json`;
await $({ quiet: true })`tsc --project tsconfig.types.json`;
keepTypesOf('dist/index.d.ts');
// Images are built in a checkout only.
const filter = (path: string): boolean => !isCode(path) && basename(path) !== 'images';
cpSync('lib', 'dist/lib', { recursive: true, filter });
for (const path of data) {
  mkdirSync(dirname(join('dist', path)), { recursive: true });
  cpSync(path, join('dist', path), { recursive: true });
}
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
writeFileSync('dist/package.json', `${JSON.stringify({ type: 'module', version })}\n`);
