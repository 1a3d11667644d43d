/** The controller manager is killed; the next one starts every wait again. */
import { faultKind } from './kind.ts';

export const controllerRestart = faultKind({
  name: 'controller-restart',
  question: 'The controller manager dies, no node is lost: does any volume move?',
  words: 'the controller manager restarts',
  happens: 'nothing: the controller manager is killed, and the next one starts every wait again',
  certificate: 'that process is gone',
  breaks: 'kill controller-manager',
  mends: 'await controller-manager',
  whole: ['controller-manager runs'],
  broken: [],
  isOfControlPlane: true,
  isOverAtOnce: true,
  delaysNotReady: true,
  unsettlesAttachments: true,
  needs: ['component-kill'],
});
