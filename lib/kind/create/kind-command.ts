/** kind's own command, and all that it does here: nodes, their kubeconfig, images put into them. `kind`: path of the program. */
import { copyTimeoutMs, run } from '../engine/run.ts';

/** kind needs 25 to 40 s, and three clusters at once on two cores four minutes. */
const creationTimeoutMs = 900_000;

const provider = { KIND_EXPERIMENTAL_PROVIDER: 'docker' };

/** `name`: the cluster's, as the engine has it: of its network too. */
interface Named {
  readonly name: string;
  readonly signal: AbortSignal | undefined;
}

interface Creation extends Named {
  readonly config: string;
  readonly kubeconfig: string;
  readonly onProgress: (line: string) => void;
}

export async function createKind(
  kind: string,
  { name, config, kubeconfig, onProgress, signal }: Creation,
): Promise<void> {
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
}

export async function exportKubeconfig(
  kind: string,
  { name, kubeconfig, signal }: Named & Pick<Creation, 'kubeconfig'>,
): Promise<void> {
  const flags = ['--name', name, '--kubeconfig', kubeconfig];
  const env = { ...provider, KUBECONFIG: kubeconfig };
  await run([kind, 'export', 'kubeconfig', ...flags], { signal, env });
}

/** Images of the engine, into all nodes. */
export async function loadImages(
  kind: string,
  { name, images, signal }: Named & { readonly images: readonly string[] },
): Promise<void> {
  const options = { signal, timeoutMs: copyTimeoutMs, env: provider };
  await run([kind, 'load', 'docker-image', '--name', name, ...images], options);
}
