/** The array as a program, for tests that run it without a container. Needs Go. */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { $ } from '../../lib/kind/engine/shell.ts';
import { arrayFiles, arrayModule } from '../../lib/kind/images/built/parts.ts';
import { contentKey } from '../../lib/core/source.ts';

const root = resolve(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/forcedetach');

/** Path of the program: built once per state of its files, which takes some seconds. */
export async function arrayProgram(): Promise<string> {
  const program = join(cache, `array-${contentKey(arrayFiles(root), [])}`);
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  // Test files run side by side: each builds its own, and the last one stays.
  const fresh = `${program}.${process.pid}`;
  const env = { ...process.env, CGO_ENABLED: '0' };
  await $({ cwd: join(root, arrayModule), env, quiet: true })`go build -trimpath -o ${fresh} .`;
  renameSync(fresh, program);
  return program;
}
