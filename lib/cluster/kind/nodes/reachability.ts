/** Who reaches whom now: a node the API server, the outside client's network a node. */
import { InfrastructureError } from '../../../errors.ts';
import type { Ended, OutOfBandShell } from '../../node-shell.ts';

const kubeletPort = 10250;
/** Both probes give up by themselves after 3 s; the rest is for a machine that is busy. */
const askMs = 15_000;

/** Asked on the node itself. */
export async function reachesApi(node: OutOfBandShell): Promise<boolean> {
  const kubectl = ['kubectl', '--kubeconfig=/etc/kubernetes/kubelet.conf', '--request-timeout=3s'];
  const { exitCode } = await ask(node, [...kubectl, 'get', '--raw', '/readyz']);
  return exitCode === 0;
}

/** `from`: on the outside client's network. */
export async function reachedFrom(from: OutOfBandShell, ip: string): Promise<boolean> {
  const target = `TCP:${ip}:${kubeletPort},connect-timeout=2`;
  const { exitCode, stderr } = await ask(from, ['socat', '-u', 'OPEN:/dev/null', target]);
  // Refused is an answer of the node too: its kubelet does not listen yet.
  return exitCode === 0 || stderr.includes('refused');
}

/** A command that a busy machine did not come to is no answer: it is asked once more. */
async function ask(node: OutOfBandShell, argv: readonly string[]): Promise<Ended> {
  const answerOf = (): Promise<Ended> => node.run(argv, { timeoutMs: askMs });
  const first = await answerOf();
  const answer = first.exitCode === -1 ? await answerOf() : first;
  if (answer.exitCode !== -1) return answer;
  const seconds = askMs / 1000;
  throw new InfrastructureError('PROBE_LATE', `no answer in ${seconds} s, asked twice`, {
    command: node.byHand(argv),
  });
}
