/** The kubelet stands still; what it started runs on. */
import { faultKind } from './kind.ts';

export const kubeletStall = faultKind({
  name: 'kubelet-stall',
  question:
    'A kubelet stands still, its pods run: does Kubernetes let a second node write the volume?',
  happens: 'the kubelet stands still (SIGSTOP); the database runs on',
  certificate: 'the kubelet is stopped, the node runs',
  silencesKubelet: true,
  sharesEvents: true,
  needs: ['agent-stall'],
});
