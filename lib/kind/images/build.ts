/** Carries out steps: one process at a time per image on this machine, output to a log file. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { killGroup } from '../engine/child.ts';
import { listImages, removeImage } from '../engine/commands.ts';
import * as recipe from '../engine/recipe.ts';
import { $ } from '../engine/shell.ts';
import { InfrastructureError } from '../../core/index.ts';
import { type ImageStep, partLabel } from './part.ts';
import { kindVersion } from './versions.ts';

/** How often a long step says that it is still going. */
const stillEveryMs = 20_000;

export interface BuildOptions {
  /** The project's root: commands run there. */
  readonly root: string;
  /** For locks, logs and scratch folders. */
  readonly cache: string;
  readonly onProgress: (line: string) => void;
  /** Ends the step's commands. */
  readonly signal: AbortSignal | undefined;
}

/** `$XDG_CACHE_HOME/forcedetach`, else `~/.cache/forcedetach`. */
export const cacheFolder = (): string =>
  join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'forcedetach');

/** All images of the engine by reference. Throws InfrastructureError `ENGINE_MISSING`. */
export async function presentImages(): Promise<ReadonlySet<string>> {
  const asked = $({ quiet: true, nothrow: true, timeout: '60s' });
  const list = await asked`${listImages()}`;
  if (list.exitCode === 0) return new Set(list.stdout.split('\n').filter(Boolean));
  throw new InfrastructureError('ENGINE_MISSING', 'the Docker engine does not answer', {
    hint: 'start it; on Debian the set-up script installs and starts it',
    command: 'sudo .ci/setup',
    cause: new Error(list.stderr.trim()),
  });
}

export async function buildStep(step: ImageStep, options: BuildOptions): Promise<void> {
  const { root, cache, onProgress, signal } = options;
  signal?.throwIfAborted();
  const id = step.ref.replaceAll(/[^\w.-]/g, '-');
  const log = join(cache, 'logs', `${id}.log`);
  const lock = join(cache, `${id}.lock`);
  const env = { ...process.env, WORK: join(cache, 'work', id) };
  await mkdir(join(cache, 'logs'), { recursive: true });
  const began = performance.now();
  const seconds = (): string => ((performance.now() - began) / 1_000).toFixed(1);
  onProgress(`images: building ${step.ref} (log: ${log})`);
  const still = setInterval(() => onProgress(`images: ${step.ref}: ${seconds()} s`), stillEveryMs);
  // A group of its own ends as a whole: zx would end its first process alone. Without a signal the
  // terminal's Ctrl-C has to reach it.
  const detached = signal !== undefined;
  const shell = $({ quiet: true, nothrow: true, detached, cwd: root, env });
  const building = shell`flock ${lock} bash -c ${script(step)} >${log} 2>&1`;
  const end = (): void => killGroup(building, 'SIGTERM');
  signal?.addEventListener('abort', end);
  const { exitCode } = await building;
  signal?.removeEventListener('abort', end);
  clearInterval(still);
  signal?.throwIfAborted();
  if (exitCode !== 0) throw await stepError(step, log);
  onProgress(`images: ${step.ref} took ${seconds()} s`);
}

/** Bash that makes an image unless another process just did; the lock is held meanwhile. */
const script = (step: ImageStep): string =>
  [
    'set -euo pipefail',
    `if ${recipe.hasImage(step.ref)}; then exit 0; fi`,
    'rm -rf "$WORK"; mkdir -p "$WORK"',
    `trap 'rm -rf "$WORK"' EXIT`,
    'set -x',
    ...step.commands,
  ].join('\n');

async function stepError(step: ImageStep, log: string): Promise<InfrastructureError> {
  const tail = (await $({ quiet: true, nothrow: true })`tail -n 12 ${log}`).stdout.trimEnd();
  return new InfrastructureError('IMAGE_FAILED', `building ${step.ref} failed:\n${tail}`, {
    hint: 'the log has the whole output',
    command: `less ${log}`,
  });
}

/** Parts made anew with each change of this project; the others change with a version. */
const changing = ['node-with-driver', 'driver', 'array'] as const;

/** Keeps the newest image of each of these parts, and what a container uses. Resolves to the rest. */
export async function pruneImages(parts: readonly string[] = changing): Promise<string[]> {
  const removed: string[] = [];
  for (const part of parts) {
    for (const ref of await olderImages(part)) {
      const { exitCode } = await $({ nothrow: true, quiet: true })`${removeImage(ref)}`;
      if (exitCode === 0) removed.push(ref);
    }
  }
  return removed;
}

async function olderImages(part: string): Promise<string[]> {
  const asked = $({ nothrow: true, quiet: true });
  const list = listImages('--filter', `label=${partLabel}=${part}`);
  const { stdout } = await asked`${list}`;
  // The engine names the newest first.
  return stdout
    .split('\n')
    .filter((ref) => ref !== '' && !ref.includes('<none>'))
    .slice(1);
}

/** Its path. Throws InfrastructureError `KIND_MISSING` if there is none and none can be built. */
export async function ensureKind(): Promise<string> {
  const quiet = $({ quiet: true, nothrow: true });
  const own = (await quiet`command -v kind`).stdout.trim();
  if (own !== '') return own;
  const folder = join(cacheFolder(), `kind-${kindVersion}`);
  const path = join(folder, 'kind');
  if (existsSync(path)) return path;
  const install = $({ quiet: true, nothrow: true, env: { ...process.env, GOBIN: folder } });
  const built = await install`go install ${`sigs.k8s.io/kind@v${kindVersion}`}`;
  if (built.exitCode === 0) return path;
  throw new InfrastructureError('KIND_MISSING', 'kind is not on the PATH and cannot be built', {
    hint: 'install kind, or install Go to build it',
    command: `GOBIN=${folder} go install sigs.k8s.io/kind@v${kindVersion}`,
    cause: new Error(built.stderr.trim().split('\n').at(-1) ?? ''),
  });
}
