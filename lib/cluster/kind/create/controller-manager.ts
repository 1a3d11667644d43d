/** What the controller manager itself says of a forced detach: its log, and its counter. */
import * as engine from '../../../engine/commands.ts';
import { run } from '../../../engine/run.ts';
import { followPodLogs, type Following, type LogLine } from '../observe/pod-log.ts';

/** Forced detaches since the controller manager started, by reason. */
export interface ForcedDetaches {
  readonly timeout: number;
  readonly 'out-of-service': number;
}

/** The subsystem's prefix is doubled in Kubernetes itself. */
const metric = 'attach_detach_controller_attachdetach_controller_forced_detaches';

/** The counters are lost whenever the controller manager restarts: read them before that. */
export async function readForcedDetachMetric(controlPlane: string): Promise<ForcedDetaches> {
  // The API server's client of kubelets may not read it any more (Kubernetes 1.36).
  const admin = '--kubeconfig=/etc/kubernetes/admin.conf';
  const server = ['--server=https://127.0.0.1:10257', '--insecure-skip-tls-verify'];
  const kubectl = ['kubectl', admin, ...server];
  const text = await run(engine.exec(controlPlane, ...kubectl, 'get', '--raw', '/metrics'));
  return parseForcedDetaches(text);
}

export function parseForcedDetaches(metrics: string): ForcedDetaches {
  const count = (reason: string): number => {
    const line = metrics
      .split('\n')
      .find((each) => each.startsWith(`${metric}{reason="${reason}"}`));
    return line === undefined ? 0 : Number(line.split(' ').at(-1));
  };
  return { timeout: count('timeout'), 'out-of-service': count('out-of-service') };
}

/** Every line it logs, from its start on, across its restarts. */
export const followControllerManager = (
  controlPlane: string,
  onLine: (line: LogLine) => void,
  following: Following = {},
): AsyncDisposable =>
  followPodLogs(
    controlPlane,
    '/var/log/pods/kube-system_kube-controller-manager-*/kube-controller-manager/*.log',
    onLine,
    following,
  );
