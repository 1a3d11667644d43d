/**
 * The node of the control plane stands still until the heal: etcd, the API server and everything that leads
 * there at once. To the other nodes it is an API server that does not answer.
 */
import { faultKind } from './kind.ts';

export const controlPlaneFreeze = faultKind({
  name: 'control-plane-freeze',
  question: 'The control plane’s node stands still, no other is lost: does any volume move?',
  words: 'the node of the control plane stands still',
  happens: 'nothing: every process of the control plane’s node is frozen, etcd among them',
  certificate: 'it is frozen',
  breaks: 'stall control-plane',
  mends: 'resume control-plane',
  whole: ['control-plane runs'],
  broken: ['control-plane stalled'],
  isOfControlPlane: true,
  silencesApi: true,
  stopsControlPlane: true,
  delaysNotReady: true,
  unsettlesAttachments: true,
  needs: ['component-stall'],
});
