/**
 * The controller manager stands still until the heal. Once it goes on it renews its lease, which no standby took
 * here, and every wait that ended meanwhile is over at once.
 */
import { faultKind } from './kind.ts';

export const controllerFreeze = faultKind({
  name: 'controller-freeze',
  question: 'The controller manager stands still, no node is lost: does any volume move?',
  words: 'the controller manager stands still',
  happens:
    'nothing: the controller manager is stopped, and so is the kubelet that would replace it',
  certificate: 'it is stopped',
  breaks: 'stall controller-manager',
  mends: 'resume controller-manager',
  whole: ['controller-manager runs'],
  broken: ['controller-manager stalled'],
  isOfControlPlane: true,
  delaysNotReady: true,
  unsettlesAttachments: true,
  needs: ['component-stall'],
});
