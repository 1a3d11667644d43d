/** Who reaches whom now: a node the API server, the outside client's network a node. */
import * as engine from '../../../engine/commands.ts';
import { pasteable, tryRun, type CommandResult } from '../../../engine/run.ts';
import { InfrastructureError } from '../../../errors.ts';

const kubeletPort = 10250;
/** Both probes give up by themselves after 3 s; the rest is for a machine that is busy. */
const askMs = 15_000;

/** Asked on the node itself. */
export async function reachesApi(node: string): Promise<boolean> {
  const kubectl = ['kubectl', '--kubeconfig=/etc/kubernetes/kubelet.conf', '--request-timeout=3s'];
  const { exitCode } = await ask(engine.exec(node, ...kubectl, 'get', '--raw', '/readyz'));
  return exitCode === 0;
}

/** `from`: a container on the outside client's network. */
export async function reachedFrom(from: string, ip: string): Promise<boolean> {
  const target = `TCP:${ip}:${kubeletPort},connect-timeout=2`;
  const argv = engine.exec(from, 'socat', '-u', 'OPEN:/dev/null', target);
  const { exitCode, stderr } = await ask(argv);
  // Refused is an answer of the node too: its kubelet does not listen yet.
  return exitCode === 0 || stderr.includes('refused');
}

/** A command that a busy machine did not come to is no answer: it is asked once more. */
async function ask(argv: readonly string[]): Promise<CommandResult> {
  const first = await tryRun(argv, { timeoutMs: askMs });
  const answer = first.exitCode === -1 ? await tryRun(argv, { timeoutMs: askMs }) : first;
  if (answer.exitCode !== -1) return answer;
  const seconds = askMs / 1000;
  throw new InfrastructureError('PROBE_LATE', `no answer in ${seconds} s, asked twice`, {
    command: pasteable(argv),
  });
}
