/**
 * containerd alone stands still. The kubelet renews its Lease, and says after 30 s that its node is not Ready,
 * since the runtime answers nothing (kubelet.go maxWaitForContainerRuntime, runtime.go runtimeErrors). It can
 * neither start nor stop a container, and unmounts no volume of one that it has not stopped.
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
  // So long a kubelet waits for its runtime, and then until its next report.
  leastMs: 45_000,
  needs: ['agent-stall'],
});
