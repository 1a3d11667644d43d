/** Has all images on the engine, from a registry or built here; an unchanged input builds nothing. */
import { $ } from 'zx';
import { needCheckout } from '../checkout.ts';
import { database } from '../database/chosen.ts';
import { imageIds as idsOf } from '../engine/commands.ts';
import { buildStep, cacheFolder, presentImages } from './build.ts';
import type { ImageSet, ImageSource, SourceChoice } from './image-set.ts';
import { planImages, projectRoot } from './plan.ts';
import { preflightBuild } from './preflight.ts';
import { askRegistry, chooseSource } from './source.ts';

export interface EnsureRequest {
  /** `auto` takes published where a registry answers within 5 s, else built. */
  readonly source: 'auto' | ImageSource;
  /** Of published ones: holds what this checkout would build. Default: official images. */
  readonly registry?: string | undefined;
  /** A minor, or a patch of one: `1.37`, `1.37.2`. */
  readonly kubernetes: string;
  /** Volumes are to be provisioned. Default: no. */
  readonly provisioner?: boolean;
  /** Takes one line at a time. */
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
  if (missing.size === 0) onProgress('images: all there');
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
  const unasked = { answers: false, why: 'not asked' };
  return chooseSource(source, source === 'auto' ? await askRegistry(kubernetes) : unasked);
}

async function imageIds(images: Omit<ImageSet, 'ids'>): Promise<Record<string, string>> {
  const { node, attacher, provisioner, driver, array, tools } = images;
  const asked = provisioner === undefined ? {} : { provisioner };
  const named = {
    node,
    [database.name]: images.database,
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
