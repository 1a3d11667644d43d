/** Kubelet and containerd stand still. */
import { faultKind } from './kind.ts';

export const runtimeStall = faultKind({
  name: 'runtime-stall',
  question: 'Kubelet and containerd stand still, the pods run: does a second node get the volume?',
  happens: 'kubelet and containerd stand still; the database runs on',
  certificate: 'both are stopped, the node runs',
  silencesKubelet: true,
  sharesEvents: true,
  needs: ['agent-stall'],
});
