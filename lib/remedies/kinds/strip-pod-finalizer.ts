/** The pod is force-deleted, and the finalizer that holds it taken away. */
import { remedyKind } from './kind.ts';

export const stripPodFinalizer = remedyKind({
  name: 'strip-pod-finalizer',
  on: 'pod',
  removesPodObject: true,
  changes: { podFinalizer: 'strip-pod-finalizer needs a pod that has one: podFinalizer' },
  does: 'the pod is force-deleted, and the finalizer that holds it (`workload.finalizer`) is taken away',
});
