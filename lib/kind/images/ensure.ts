/** Has all images on the engine, from a registry or built here; an unchanged input builds nothing. */
import { $ } from '../engine/shell.ts';
import { needCheckout, projectRoot, InfrastructureError } from '../../core/index.ts';
import { imageIds as idsOf, program } from '../engine/commands.ts';
import { buildStep, cacheFolder, presentImages } from './build.ts';
import type { ImageSet, ImageSource, SourceChoice } from './image-set.ts';
import type { ImageStep } from './part.ts';
import { planImages } from './image-plan.ts';
import { askRegistry, chooseSource } from './source.ts';

export interface EnsureRequest {
  /** `auto` takes published where a registry answers within 5 s, else built. */
  readonly source: 'auto' | ImageSource;
  /** Registry of published ones: holds what this checkout would build. Default: official images. */
  readonly registry?: string | undefined;
  /** A minor, or a patch of one: `1.37`, `1.37.2`. */
  readonly kubernetes: string;
  /** Volumes are to be provisioned. Default: no. */
  readonly provisioner?: boolean;
  readonly onProgress: (line: string) => void;
  /** Ends what is being built. Default: nothing does. */
  readonly signal?: AbortSignal;
}

/** Throws InfrastructureError: ENGINE_MISSING, BUILD_TOOL_MISSING, IMAGE_FAILED, NEEDS_CHECKOUT. */
export async function ensureImages(request: EnsureRequest): Promise<ImageSet> {
  const { kubernetes, registry, provisioner, onProgress, signal } = request;
  needCheckout('images for real clusters');
  const choice = await sourceOf(request);
  onProgress(choice.reason);
  const plan = planImages({ source: choice.source, registry, kubernetes, provisioner });
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

async function sourceOf({ source, kubernetes }: EnsureRequest): Promise<SourceChoice> {
  const unasked = { answers: false, why: 'not requested' };
  return chooseSource(source, source === 'auto' ? await askRegistry(kubernetes) : unasked);
}

async function imageIds(images: Omit<ImageSet, 'ids'>): Promise<Record<string, string>> {
  const { node, attacher, provisioner, driver, array, tools } = images;
  const asked = provisioner === undefined ? {} : { provisioner };
  const named = {
    node,
    mysql: images.database,
    attacher,
    ...asked,
    driver,
    array,
    tools,
  };
  const refs = Object.values(named);
  const list = await $({ quiet: true, timeout: '60s' })`${idsOf(refs)}`;
  const ids = list.stdout.trim().split('\n');
  return Object.fromEntries(Object.keys(named).map((name, index) => [name, ids[index] ?? '']));
}

const fromGo = new Set(['kubernetes', 'attacher', 'pause', 'array']);
const fromDebian = new Set(['base', 'mysql', 'runtime', 'tools']);

/** The programs that building these steps needs; asked for before anything is begun. */
export function toolsFor(steps: readonly ImageStep[]): string[] {
  const tools = new Set([program, 'flock', 'tar']);
  for (const { name } of steps) {
    if (fromGo.has(name)) ['go', 'jq'].forEach((tool) => tools.add(tool));
    if (fromDebian.has(name)) tools.add('mmdebstrap');
  }
  return [...tools];
}

/** Throws InfrastructureError `BUILD_TOOL_MISSING` that names all missing programs at once. */
async function preflightBuild(steps: readonly ImageStep[]): Promise<void> {
  const quiet = $({ quiet: true, nothrow: true });
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
