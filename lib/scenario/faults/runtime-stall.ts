/** Kubelet and containerd stand still, as on a node that is out of disk I/O. */
import { faultKind } from './kind.ts';

export const runtimeStall = faultKind({
  name: 'runtime-stall',
  question: 'Kubelet and containerd stand still, the pods run: does a second node get the volume?',
  words: 'kubelet and containerd of the old node hang and the database keeps running',
  happens: 'kubelet and containerd stand still; the database runs on',
  certificate: 'both are stopped, the node runs',
  breaks: 'stall runtime',
  mends: 'resume agents',
  whole: ['agents run'],
  broken: ['runtime stalled', 'victim still runs'],
  silencesKubelet: true,
  sharesEvents: true,
  strikesSecond: true,
  needs: ['agent-stall'],
});
