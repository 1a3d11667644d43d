/** Where images come from when the user leaves it open: a registry if one answers, else this machine. */
import { $ } from '../engine/shell.ts';
import { askManifest } from '../engine/commands.ts';
import { UsageError } from '../../core/index.ts';
import type { ImageSource, SourceChoice } from './image-set.ts';
import { publishedNode } from './published.ts';

export interface RegistryAnswer {
  readonly answers: boolean;
  /** The registry's or the engine's own words when it does not. */
  readonly why: string;
}

export function chooseSource(asked: 'auto' | ImageSource, registry: RegistryAnswer): SourceChoice {
  if (asked !== 'auto') return { source: asked, reason: `images: ${asked}, as requested` };
  if (registry.answers) {
    return { source: 'published', reason: 'images: published (a registry answers)' };
  }
  return { source: 'built', reason: `images: built here (no registry: ${registry.why})` };
}

/** Asks for the manifest of kind's node image, so that a `yes` also says that this version exists. */
export async function askRegistry(kubernetes: string, timeoutMs = 5_000): Promise<RegistryAnswer> {
  let image: string;
  try {
    image = publishedNode(kubernetes);
  } catch (error) {
    // A patch that nobody published can still be built.
    if (!(error instanceof UsageError)) throw error;
    return { answers: false, why: error.message };
  }
  const quiet = $({ quiet: true, nothrow: true });
  const seconds = timeoutMs / 1_000;
  const asked = await quiet`timeout ${seconds} ${askManifest(image)}`;
  if (asked.exitCode === 0) return { answers: true, why: '' };
  if (asked.exitCode === 124) return { answers: false, why: `no answer within ${seconds} s` };
  return { answers: false, why: asked.stderr.trim().split('\n').at(-1) ?? 'it refused' };
}
