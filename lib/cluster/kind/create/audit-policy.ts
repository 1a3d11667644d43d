/**
 * What the API server's audit log keeps: who removed which pod, attachment or node, who made new
 * ones, who tainted. A few lines a run; everything else is left out, so it costs next to nothing.
 */
import { stringify } from 'yaml';

/** Subresources are named apart: kubelet's own `pods/status` and `nodes/status` are not meant. */
const rules = [
  // With the body, which has the grace period and the pod that is meant.
  { level: 'Request', verbs: ['delete', 'deletecollection'], resources: core('pods', 'nodes') },
  { level: 'Request', verbs: ['create'], resources: core('pods/eviction') },
  { level: 'Request', verbs: ['patch'], resources: core('nodes') },
  { level: 'Metadata', verbs: ['create', 'patch', 'update'], resources: core('pods') },
  { level: 'Metadata', verbs: ['create', 'update'], resources: core('nodes') },
  {
    level: 'Metadata',
    verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
    resources: [{ group: 'storage.k8s.io', resources: ['volumeattachments'] }],
  },
  { level: 'None' },
];

function core(...resources: readonly string[]): unknown[] {
  return [{ group: '', resources }];
}

export const auditPolicy: string = stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  // One line a request, written when it was answered.
  omitStages: ['RequestReceived', 'ResponseStarted'],
  rules,
});
