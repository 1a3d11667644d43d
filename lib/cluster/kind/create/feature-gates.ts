/** Refuses feature gates that a version does not know, before a cluster is made whose parts won't start. */
import { InfrastructureError, UsageError } from '../../../errors.ts';
import type { FeatureGates } from '../../../kubernetes-versions.ts';
import * as engine from '../../../engine/commands.ts';
import { tryRun } from '../../../engine/run.ts';

/** Throws UsageError `GATE_UNKNOWN` where the node image's kubelet does not know one of them. */
export async function refuseUnknownGates(
  { node, kubernetesVersion }: { readonly node: string; readonly kubernetesVersion: string },
  gates: FeatureGates,
): Promise<void> {
  const asked = Object.keys(gates);
  if (asked.length === 0) return;
  // Components share one list; kubelet is in each node image, whoever made it.
  const argv = engine.runOnce(['--network', 'none', '--entrypoint', 'kubelet'], node, '--help');
  const { exitCode, stdout, stderr } = await tryRun(argv, { timeoutMs: 60_000 });
  const known = gatesIn(stdout);
  if (exitCode !== 0 || known.length === 0) {
    throw new InfrastructureError('GATES_NOT_LISTED', 'kubelet does not list its feature gates', {
      hint: stderr.trim().split('\n').at(-1) ?? 'its --help says nothing of them',
    });
  }
  const unknown = asked.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new UsageError(
    'GATE_UNKNOWN',
    `Kubernetes ${kubernetesVersion} has no feature gate ${unknown}`,
    { hint: `it has ${known.length}, such as ${closest(unknown, known).join(', ')}` },
  );
}

/** Names of the list that kubelet prints: `NAME=true|false (BETA - default=true)`. */
export const gatesIn = (help: string): string[] =>
  [...help.matchAll(/\b([A-Z][A-Za-z0-9]+)=true\|false \(/g)].flatMap(([, name]) => name ?? []);

/** Three that share most of its beginning. */
function closest(name: string, known: readonly string[]): string[] {
  const shared = (other: string): number => {
    let length = 0;
    while (length < name.length && other[length] === name[length]) length += 1;
    return length;
  };
  return known.toSorted((a, b) => shared(b) - shared(a)).slice(0, 3);
}
