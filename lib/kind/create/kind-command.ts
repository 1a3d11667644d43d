/** kind's own command, and all that is asked of it: nodes, their kubeconfig, images put into them. */
import { copyTimeoutMs, run } from '../engine/run.ts';

/** kind needs 25 to 40 s, and three clusters at once on two cores four minutes. */
const creationTimeoutMs = 900_000;

const provider = { KIND_EXPERIMENTAL_PROVIDER: 'docker' };

interface KindCommandOptions {
  /** The cluster's, as the engine knows it: of its network too. */
  readonly name: string;
  readonly signal: AbortSignal | undefined;
}

export interface Creation extends KindCommandOptions {
  readonly config: string;
  readonly kubeconfig: string;
  readonly onProgress: (line: string) => void;
}

export interface KindCommand {
  create(creation: Creation): Promise<void>;
  exportKubeconfig(asked: KindCommandOptions & Pick<Creation, 'kubeconfig'>): Promise<void>;
  /** Images of the engine, into all nodes. */
  load(asked: KindCommandOptions & { readonly images: readonly string[] }): Promise<void>;
}

/** `kind`: path of the program. */
export const kindCommand = (kind: string): KindCommand => ({
  async create({ name, config, kubeconfig, onProgress, signal }) {
    const flags = ['--name', name, '--config', config, '--kubeconfig', kubeconfig];
    await run([kind, 'create', 'cluster', ...flags], {
      signal,
      timeoutMs: creationTimeoutMs,
      // One that outlives its run fails once the next start has removed its nodes, and then removes all
      // of that name: the next start's.
      endsWithUs: true,
      env: { ...provider, KIND_EXPERIMENTAL_DOCKER_NETWORK: name, KUBECONFIG: kubeconfig },
      // kind's steps: ` • Preparing nodes 📦 📦 📦  ...`
      onStderrLine: (line) => {
        const step = /•\s*([\w-]+(?: [\w-]+)*).*\.\.\./u.exec(line)?.[1];
        if (step !== undefined) onProgress(`kind: ${step.toLowerCase()}`);
      },
    });
  },

  async exportKubeconfig({ name, kubeconfig, signal }) {
    const flags = ['--name', name, '--kubeconfig', kubeconfig];
    const env = { ...provider, KUBECONFIG: kubeconfig };
    await run([kind, 'export', 'kubeconfig', ...flags], { signal, env });
  },

  async load({ name, images, signal }) {
    await run([kind, 'load', 'docker-image', '--name', name, ...images], {
      ...{ signal, timeoutMs: copyTimeoutMs, env: provider },
    });
  },
});
