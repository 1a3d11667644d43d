/** Has all images on the engine, from a registry or built here; an unchanged input builds nothing. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { killGroup, linesOf } from '../engine/run.ts';
import { listImages, removeImage, imageIds as idsOf, program } from '../engine/commands.ts';
import * as recipe from '../engine/recipe.ts';
import { $ } from '../engine/shell.ts';
import {
  InfrastructureError,
  needCheckout,
  projectRoot,
  type ImageSource,
} from '../../core/index.ts';
import type { ServerImage } from '../../scenario/index.ts';
import { type ImageStep, partLabel, kindVersion } from './part.ts';
import { type ImageSet, planImages, askRegistry, chooseSource } from './image-plan.ts';

/** Whatever a command prints and however it ends is for who runs it. */
const quiet = $({ quiet: true, nothrow: true });

/** How often a long step says that it is still going. */
const stillEveryMs = 20_000;

interface BuildOptions {
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
  const list = await quiet({ timeout: '60s' })`${listImages()}`;
  if (list.exitCode === 0) return new Set(linesOf(list.stdout));
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
  const shell = quiet({ detached, cwd: root, env });
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
  const tail = (await quiet`tail -n 12 ${log}`).stdout.trimEnd();
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
    const list = await quiet`${listImages('--filter', `label=${partLabel}=${part}`)}`;
    const refs = linesOf(list.stdout).filter((ref) => !ref.includes('<none>'));
    // The engine names the newest first.
    for (const ref of refs.slice(1)) {
      const { exitCode } = await quiet`${removeImage(ref)}`;
      if (exitCode === 0) removed.push(ref);
    }
  }
  return removed;
}

/** Its path. Throws InfrastructureError `KIND_MISSING` if there is none and none can be built. */
export async function ensureKind(): Promise<string> {
  const own = (await quiet`command -v kind`).stdout.trim();
  if (own !== '') return own;
  const folder = join(cacheFolder(), `kind-${kindVersion}`);
  const path = join(folder, 'kind');
  if (existsSync(path)) return path;
  const install = quiet({ env: { ...process.env, GOBIN: folder } });
  const built = await install`go install ${`sigs.k8s.io/kind@v${kindVersion}`}`;
  if (built.exitCode === 0) return path;
  throw new InfrastructureError('KIND_MISSING', 'kind is not on the PATH and cannot be built', {
    hint: 'install kind, or install Go to build it',
    command: `GOBIN=${folder} go install sigs.k8s.io/kind@v${kindVersion}`,
    cause: new Error(built.stderr.trim().split('\n').at(-1) ?? ''),
  });
}

interface EnsureRequest {
  /** `auto` takes published where a registry answers within 5 s, else built. */
  readonly source: 'auto' | ImageSource;
  /** Registry of published ones: holds what this checkout would build. Default: official images. */
  readonly registry?: string | undefined;
  /** A minor, or a patch of one: `1.37`, `1.37.2`. */
  readonly kubernetes: string;
  /** Volumes are to be provisioned. Default: no. */
  readonly provisioner?: boolean;
  /** What a storage network needs. Default: nothing. */
  readonly beside?: readonly ServerImage[];
  readonly onProgress: (line: string) => void;
  /** Ends what is being built. Default: nothing does. */
  readonly signal?: AbortSignal;
}

/** Throws InfrastructureError: ENGINE_MISSING, BUILD_TOOL_MISSING, IMAGE_FAILED, NEEDS_CHECKOUT. */
export async function ensureImages(request: EnsureRequest): Promise<ImageSet> {
  const { kubernetes, registry, provisioner, beside, onProgress, signal } = request;
  needCheckout('images for real clusters');
  const registryAnswer =
    request.source === 'auto'
      ? await askRegistry(kubernetes)
      : { answers: false, why: 'not requested' };
  const choice = chooseSource(request.source, registryAnswer);
  onProgress(choice.reason);
  const plan = planImages({ source: choice.source, registry, kubernetes, provisioner, beside });
  const present = await presentImages();
  const steps = plan.stages.flat(2);
  const missing = new Set(steps.filter((step) => !present.has(step.ref)));
  if (missing.size === 0) onProgress('images: all present');
  else if (choice.source === 'built') await preflightBuild([...missing]);
  const options = { root: projectRoot, cache: cacheFolder(), onProgress, signal };
  for (const stage of plan.stages) {
    const lanes = stage.map(async (lane) => {
      for (const step of lane) if (missing.has(step)) await buildStep(step, options);
    });
    // All lanes end before an error is told: none goes on building behind the user's back.
    const failed = (await Promise.allSettled(lanes)).find((lane) => lane.status === 'rejected');
    signal?.throwIfAborted();
    if (failed !== undefined) throw failed.reason;
  }
  return { ...plan.images, ids: await imageIds(plan.images) };
}

async function imageIds(images: Omit<ImageSet, 'ids'>): Promise<Record<string, string>> {
  const { node, database: mysql, attacher, provisioner, initiator, ceph } = images;
  const { driver, array, tools } = images;
  const asked = {
    ...(provisioner === undefined ? {} : { provisioner }),
    ...(initiator === undefined ? {} : { initiator }),
    ...(ceph === undefined ? {} : { ceph }),
  };
  const named = { node, mysql, attacher, ...asked, driver, array, tools };
  const list = await $({ quiet: true, timeout: '60s' })`${idsOf(Object.values(named))}`;
  const ids = linesOf(list.stdout);
  return Object.fromEntries(Object.keys(named).map((name, index) => [name, ids[index] ?? '']));
}

const fromGo = new Set(['kubernetes', 'attacher', 'pause', 'array']);
const fromDebian = new Set(['base', 'mysql', 'runtime', 'initiator', 'ceph', 'tools']);

/** The programs that building these steps needs; asked for before anything is begun. */
function toolsFor(steps: readonly ImageStep[]): string[] {
  const tools = new Set([program, 'flock', 'tar']);
  for (const { name } of steps) {
    if (fromGo.has(name)) ['go', 'jq'].forEach((tool) => tools.add(tool));
    if (fromDebian.has(name)) tools.add('mmdebstrap');
  }
  return [...tools];
}

/** Throws InfrastructureError `BUILD_TOOL_MISSING` that names all missing programs at once. */
async function preflightBuild(steps: readonly ImageStep[]): Promise<void> {
  const found = await Promise.all(
    toolsFor(steps).map(async (tool) => ({
      tool,
      there: (await quiet`command -v ${tool}`).exitCode === 0,
    })),
  );
  const missing = found.filter(({ there }) => !there).map(({ tool }) => tool);
  if (missing.length === 0) return;
  throw new InfrastructureError(
    'BUILD_TOOL_MISSING',
    `building the images needs ${missing.join(', ')}, which this machine does not have`,
    { hint: 'on Debian the set-up script installs them', command: 'sudo .ci/setup' },
  );
}
