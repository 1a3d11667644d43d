/** Which backend a run takes, with which images, and why. */
import { $ } from 'zx';
import type { Beside } from '../cluster/kind/shared-cluster.ts';
import type { Backend } from '../cluster/port.ts';
import { InfrastructureError } from '../errors.ts';
import { stockTimersMs } from '../experiment/scenario.ts';
import type { ImageSource } from '../images/image-set.ts';
import { askRegistry, chooseSource, type SourceChoice } from '../images/source.ts';
import type { Flags } from './flags.ts';

export type BackendChoice =
  | {
      readonly backend: 'sim';
      /** One clause for the terminal: why this one. */
      readonly why: string;
    }
  | { readonly backend: 'kind'; readonly why: string; readonly images: SourceChoice };

type ChoosesImages = 'images' | 'kubernetes' | 'forceDetachAfter';

/** What choosing asks of the world. */
export interface Probes {
  /** Whether an engine answers, and what it said. */
  readonly engine: () => Promise<{ readonly answers: boolean; readonly detail: string }>;
  /** Where images come from when both ways are open. */
  readonly images: (asked: 'auto' | ImageSource, kubernetes: string) => Promise<SourceChoice>;
}

const probes: Probes = {
  async engine() {
    const quiet = $({ nothrow: true, quiet: true, timeout: '10s' });
    const answer = await quiet`docker version --format {{.Server.Version}}`;
    const said = answer.exitCode === 0 ? answer.stdout : answer.stderr;
    return { answers: answer.exitCode === 0, detail: said.trim().split('\n').at(-1) ?? '' };
  },
  async images(asked, kubernetes) {
    const unasked = { answers: false, why: 'not asked' };
    return chooseSource(asked, asked === 'auto' ? await askRegistry(kubernetes) : unasked);
  },
};

/** Throws InfrastructureError `ENGINE_MISSING` where kind was asked for and no engine answers. */
export async function chooseBackend(
  flags: Pick<Flags, 'cluster' | ChoosesImages>,
  ask: Probes = probes,
): Promise<BackendChoice> {
  if (flags.cluster === 'sim') return { backend: 'sim', why: 'asked for' };
  const { answers, detail } = await ask.engine();
  if (answers) {
    const why = flags.cluster === 'kind' ? 'asked for' : 'a Docker engine answers';
    const images = await chooseImages(flags, ask);
    return { backend: 'kind', why: `${why} (Docker ${detail})`, images };
  }
  if (flags.cluster === 'auto') return { backend: 'sim', why: 'no Docker engine answers' };
  throw new InfrastructureError('ENGINE_MISSING', `no Docker engine answers: ${detail}`, {
    hint: 'start the engine, or leave --cluster out to use the built-in model',
    command: 'docker version',
  });
}

/** Published images can't change the forced-detach wait, so `auto` does not ask for them then. */
async function chooseImages(
  { images, kubernetes, forceDetachAfter }: Pick<Flags, ChoosesImages>,
  ask: Probes,
): Promise<SourceChoice> {
  if (images === 'auto' && forceDetachAfter !== stockTimersMs.forceDetachAfterMs) {
    return {
      source: 'built',
      reason: 'images: built here (only these can change the forced-detach wait)',
    };
  }
  return ask.images(images, kubernetes);
}

/** Imported only when taken: the Kubernetes client alone costs most of a second. */
export async function openBackend(
  choice: BackendChoice,
  flags: Pick<Flags, 'clusterName' | 'workers' | 'keep'>,
  beside?: Beside,
): Promise<Backend> {
  if (choice.backend === 'sim') {
    const { simBackend } = await import('../cluster/sim/backend.ts');
    return simBackend();
  }
  const { kindBackend } = await import('../cluster/kind/backend.ts');
  const { clusterName, workers, keep } = flags;
  const images = choice.images.source;
  return kindBackend({ clusterName, images, workers, keep }, beside);
}
