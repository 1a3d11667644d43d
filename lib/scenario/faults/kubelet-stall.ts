/** No heartbeats and no actions of the kubelet; what it started runs on. */
import { faultKind } from './kind.ts';

export const kubeletStall = faultKind({
  name: 'kubelet-stall',
  question:
    'A kubelet stands still, its pods run: does Kubernetes let a second node write the volume?',
  words: 'the kubelet of the old node hangs and the database keeps running',
  happens: 'the kubelet is stopped (SIGSTOP); the database runs on',
  certificate: 'the kubelet is stopped, the node runs',
  breaks: 'stall kubelet',
  mends: 'resume agents',
  whole: ['agents run'],
  broken: ['kubelet stalled', 'victim still runs'],
  silencesKubelet: true,
  sharesEvents: true,
  strikesSecond: true,
  needs: ['agent-stall'],
});
