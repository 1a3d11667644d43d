/** Off the cluster's network, alive and writing. */
import { faultKind } from './kind.ts';

export const networkPartition = faultKind({
  name: 'network-partition',
  question: 'A node is cut off but alive: does Kubernetes let a second node write its volume?',
  happens:
    "off the cluster's network, alive; its database goes on writing, its clients on the same side go on committing",
  certificate: 'it reaches no API server and nobody outside reaches it',
  silencesKubelet: true,
});
