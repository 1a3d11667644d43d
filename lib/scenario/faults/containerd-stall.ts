/**
 * containerd alone stands still. The kubelet renews its Lease, and says after two minutes that its node is not Ready:
 * its next report hangs for so long in a request to the runtime (nodestatus/setters.go VersionInfo). It can neither
 * start nor stop a container, and unmounts no volume of one that it has not stopped.
 */
import { faultKind } from './kind.ts';

export const containerdStall = faultKind({
  name: 'containerd-stall',
  question:
    'containerd stands still, its kubelet and the pods run: does a second node get the volume?',
  words: 'containerd of the old node hangs and the database keeps running',
  happens: 'containerd alone is stopped (SIGSTOP); kubelet and database run on',
  certificate: 'it is stopped, the node runs',
  breaks: 'stall containerd',
  mends: 'resume agents',
  whole: ['agents run'],
  broken: ['containerd stalled', 'victim still runs'],
  sharesEvents: true,
  strikesSecond: true,
  // Until its next report, and so long that one waits for the runtime.
  leastMs: 135_000,
  needs: ['agent-stall'],
});
