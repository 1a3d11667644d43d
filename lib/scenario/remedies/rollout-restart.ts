/**
 * `kubectl rollout restart`, which any change of the pod's template is: a Deployment that updates by rolling starts the
 * new pod beside the old one, on the same claim; every other workload deletes the old pod first.
 */
import { remedyKind } from './kind.ts';

export const rolloutRestart = remedyKind({
  name: 'rollout-restart',
  on: 'pod',
  acts: ['restart rollout'],
  needs: ['rollout'],
  words: 'the workload is rolled out again',
  does: '`kubectl rollout restart`: with `deployment-rolling-update` the new pod starts beside the old one, on the same claim; with any other workload the old pod is deleted first',
});
