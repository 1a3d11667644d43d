/** Somebody writes to the victim's Lease, and renews nothing. */
import { faultKind } from './kind.ts';

export const leaseWrite = faultKind({
  name: 'lease-write',
  question:
    'Somebody writes to a node’s Lease and renews nothing, no node is lost: does any volume move?',
  happens:
    'nothing: once a second somebody writes an annotation to its Lease, which renews nothing',
  certificate: 'the annotation is there',
  isOfControlPlane: true,
  delaysNotReady: true,
  needs: ['lease-annotation'],
});
