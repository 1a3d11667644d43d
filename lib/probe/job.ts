/**
 * The probe as something that runs inside the cluster: a Job with its account and rights, or a plugin for
 * Sonobuoy. One image for the probe and its pods. Pure.
 */
import { stringify } from 'yaml';
import { containerName, onlyOn } from './objects.ts';
import { grantedObjects } from './rights.ts';

export const jobForms = ['job', 'sonobuoy'] as const;
export type JobForm = (typeof jobForms)[number];

export interface ProbeJobRequest {
  /** Holds forcedetach as its entry point, and Node: the pods' image, too. */
  readonly image: string;
  /** Words of the probe's command, as they were typed, without those that are about the Job. */
  readonly words: readonly string[];
  readonly namespace: string;
  readonly cut?: { readonly node: string; readonly marks: boolean; readonly healAfterMs: number };
}

/** What a probe removes at its end, or waits for. */
const endS = 300;

const account = 'forcedetach-probe';

/** Nothing is tried twice: what a first try left has to be looked at. */
export function jobText(request: ProbeJobRequest): string {
  const { image, words, namespace, cut } = request;
  const to = { kind: 'ServiceAccount', name: account, namespace } as const;
  const granted = {
    ...{ home: { namespace, isGiven: true }, grantsLater: false, to },
    ...(cut === undefined ? {} : { cut }),
  };
  const [space, ...rights] = grantedObjects(granted);
  const metadata = { name: account, namespace };
  const args = ['probe', ...words, '--namespace', namespace, '--image', image];
  const job = {
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata },
    spec: {
      backoffLimit: 0,
      template: {
        spec: {
          ...podSpec(account, cut),
          containers: [
            {
              ...{ name: containerName, image, imagePullPolicy: 'IfNotPresent' },
              args: [...args, '--output', 'json', '--out', '/tmp/certificate.json'],
              // It needs none of the node's rights, also where its pods do.
              securityContext: {
                ...{ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
                seccompProfile: { type: 'RuntimeDefault' },
              },
            },
          ],
        },
      },
    },
  };
  const objects = [space, { apiVersion: 'v1', kind: 'ServiceAccount', metadata }, ...rights, job];
  return objects.map((object) => stringify(object)).join('---\n');
}

/** Never on the node that is cut off: its certificate would be lost with it. */
const podSpec = (serviceAccountName: string, cut: ProbeJobRequest['cut']): object => ({
  ...{ restartPolicy: 'Never', serviceAccountName },
  terminationGracePeriodSeconds: endS + Math.ceil((cut?.healAfterMs ?? 0) / 1000),
  ...(cut === undefined ? {} : { affinity: { nodeAffinity: onlyOn(cut.node, 'NotIn') } }),
});

const results = '/tmp/sonobuoy/results';

/**
 * The worker beside it waits for a file `done` that names the results. Sonobuoy's own account, which may do
 * anything, is what it runs as: a plugin brings no rights along.
 */
export function sonobuoyText({ image, words, cut }: Omit<ProbeJobRequest, 'namespace'>): string {
  const script = [
    `results="\${SONOBUOY_RESULTS_DIR:-${results}}"`,
    'mkdir -p "$results/detach"',
    'cd "$results/detach"',
    'forcedetach probe "$@" --junit detach.xml --html detach.html --out detach.json >probe.txt 2>&1 || echo "exit code $?" >>probe.txt',
    'tar -czf "$results/detach.tar.gz" -C "$results/detach" .',
    'printf %s "$results/detach.tar.gz" >"$results/done"',
  ];
  return stringify({
    'sonobuoy-config': {
      ...{ driver: 'Job', 'plugin-name': 'forcedetach', 'result-format': 'junit' },
      'result-files': ['detach.xml'],
      description: 'What a StorageClass does when a volume of it is detached by force',
    },
    spec: {
      ...{ name: 'plugin', image, imagePullPolicy: 'IfNotPresent' },
      command: ['/bin/sh', '-c', script.join('\n'), 'forcedetach'],
      args: [...words, '--image', image],
      volumeMounts: [{ name: 'results', mountPath: results }],
    },
    podSpec: { containers: [], ...podSpec('sonobuoy-serviceaccount', cut) },
  });
}
