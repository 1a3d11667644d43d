/**
 * A tool writes a note to the victim's Lease and renews nothing. Since 1.37 a node whose Lease has another
 * version than at its last renewal is not given up (docs/internals/model.md); alone, beside a kubelet that
 * renews, it changes nothing.
 */
import { faultKind } from './kind.ts';

export const leaseWrite = faultKind({
  name: 'lease-write',
  question:
    'Somebody writes to a node’s Lease and renews nothing, no node is lost: does any volume move?',
  words: 'something writes to the Lease of the old node',
  happens:
    'nothing: once a second somebody writes an annotation to its Lease, which renews nothing',
  certificate: 'the annotation is there',
  breaks: 'annotate lease',
  mends: 'clear lease',
  // About as often as a busy operator reconciles; faster than any kubelet renews.
  repeatsMs: 1000,
  whole: ['lease not annotated'],
  broken: ['lease annotated'],
  // The Lease goes with its node, which a remedy may delete: that is no end of the writing.
  lasts: [],
  isOfControlPlane: true,
  delaysNotReady: true,
  needs: ['lease-annotation'],
});
