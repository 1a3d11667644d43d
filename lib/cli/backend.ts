/** Which backend a run takes, and why. */
import { $ } from 'zx';
import type { Backend } from '../cluster/port.ts';
import { InfrastructureError } from '../errors.ts';
import type { RunRequest } from './request.ts';

export interface BackendChoice {
  readonly backend: 'kind' | 'sim';
  /** One clause for the terminal: why this one. */
  readonly why: string;
}

/** Whether an engine answers, and what it said. */
export type EngineProbe = () => Promise<{ readonly answers: boolean; readonly detail: string }>;

const probeTimeout = '10s';

export const askDocker: EngineProbe = async () => {
  const answer = await $({
    nothrow: true,
    quiet: true,
    timeout: probeTimeout,
  })`docker version --format {{.Server.Version}}`;
  const said = (answer.exitCode === 0 ? answer.stdout : answer.stderr).trim().split('\n').at(-1);
  return { answers: answer.exitCode === 0, detail: said ?? '' };
};

/** Throws InfrastructureError `ENGINE_MISSING` where kind was asked for and no engine answers. */
export async function chooseBackend(
  wanted: 'auto' | 'kind' | 'sim',
  probe: EngineProbe = askDocker,
): Promise<BackendChoice> {
  if (wanted === 'sim') return { backend: 'sim', why: 'asked for' };
  const { answers, detail } = await probe();
  if (answers) {
    const why = wanted === 'kind' ? 'asked for' : 'a Docker engine answers';
    return { backend: 'kind', why: `${why} (Docker ${detail})` };
  }
  if (wanted === 'auto') return { backend: 'sim', why: 'no Docker engine answers' };
  throw new InfrastructureError('ENGINE_MISSING', `no Docker engine answers: ${detail}`, {
    hint: 'start the engine, or leave --cluster out to use the built-in model',
    command: 'docker version',
  });
}

/** Imported only when taken: the Kubernetes client alone costs most of a second. */
export async function openBackend(choice: BackendChoice, request: RunRequest): Promise<Backend> {
  if (choice.backend === 'sim') {
    const { simBackend } = await import('../cluster/sim/backend.ts');
    return simBackend();
  }
  const { kindBackend } = await import('../cluster/kind/backend.ts');
  const { clusterName, images, kubernetesVersion, workers, keep } = request.flags;
  return kindBackend({ clusterName, images, kubernetesVersion, workers, keep });
}
