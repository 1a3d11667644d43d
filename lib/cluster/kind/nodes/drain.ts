/** `kubectl drain` as an operator runs it, with the kubectl of the control plane's node. */
import * as engine from '../../../engine/commands.ts';
import { run, tryRun } from '../../../engine/run.ts';

const kubectl = ['kubectl', '--kubeconfig=/etc/kubernetes/admin.conf'];
/** Beyond its own time limit, for kubectl to start and to end. */
const patienceMs = 30_000;

/** Resolves also where it gives up: a drain that hangs on a lost node is what a run asks about. */
export async function drainNode(
  controlPlane: string,
  node: string,
  timeoutMs: number,
): Promise<{ drained: boolean; answer: string }> {
  const limit = `--timeout=${timeoutMs / 1000}s`;
  const flags = ['--ignore-daemonsets', '--delete-emptydir-data', limit];
  const argv = engine.exec(controlPlane, ...kubectl, 'drain', node, ...flags);
  const result = await tryRun(argv, { timeoutMs: timeoutMs + patienceMs });
  const said = `${result.stdout}\n${result.stderr}`.split('\n').filter((line) => line !== '');
  return { drained: result.exitCode === 0, answer: said.slice(-3).join(' / ') };
}

export async function uncordonNode(controlPlane: string, node: string): Promise<void> {
  await run(engine.exec(controlPlane, ...kubectl, 'uncordon', node));
}
