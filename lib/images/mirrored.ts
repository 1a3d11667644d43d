/** The third way to the images: those that were built elsewhere from the same sources, from a registry. */
import { pullPinned } from '../engine/recipe.ts';
import { releaseOf } from '../kubernetes-versions.ts';
import { builtParts } from './built/parts.ts';
import type { ImagePart, ImageStep } from './part.ts';

/** What a cluster is made of; the other parts are only built upon. */
export const mirroredNames = [
  ...(['node', 'mysql', 'attacher', 'provisioner', 'driver', 'array', 'tools'] as const),
];

/** `provisioner`: only where volumes are to be provisioned. */
export type PulledSteps = Readonly<Record<(typeof mirroredNames)[number], ImageStep>>;

/** The image of a part there: its tag is the key of what it was made of. */
export const mirroredRef = (registry: string, { ref }: ImagePart): string => `${registry}/${ref}`;

/** Throws UsageError as `releaseOf` does. */
export function mirroredSteps(root: string, kubernetes: string, registry: string): PulledSteps {
  const parts = builtParts(root, releaseOf(kubernetes, 'built'));
  const steps = mirroredNames.map((name) => [name, pull(parts[name], registry)] as const);
  return Object.fromEntries(steps) as PulledSteps;
}

/**
 * The registry is asked once which bytes the tag means; those are pulled, by digest, and must say
 * that they were made of this checkout's sources.
 */
function pull(part: ImagePart, registry: string): ImageStep {
  const ref = mirroredRef(registry, part);
  // As the engine pulls: without TLS from this machine only.
  const insecure = /^(127\.|localhost\b)/.test(registry);
  const commands = pullPinned(ref, { insecure, label: 'forcedetach.key', value: part.key });
  return { name: part.name, ref, commands };
}
