/**
 * The pod is force-deleted, then its finalizers are taken away: what people do when a force delete seems to
 * hang. Without the force delete the API server would go on waiting for the kubelet.
 */
import { remedyKind } from './kind.ts';

export const stripPodFinalizer = remedyKind({
  name: 'strip-pod-finalizer',
  on: 'pod',
  acts: ['force-delete pod', 'strip pod finalizers'],
  removesPodObject: true,
  changes: {
    'workload.finalizer': 'strip-pod-finalizer needs a pod that has one: workload.finalizer',
  },
  words: 'the old pod is force-deleted and its finalizer removed by hand',
  does: 'the pod is force-deleted, and the finalizer that holds it (`workload.finalizer`) is removed',
});
