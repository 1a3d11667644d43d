/** The control plane's: the controller manager is killed. */
import { faultKind } from './kind.ts';

export const controllerRestart = faultKind({
  name: 'controller-restart',
  question: 'The controller manager dies, no node is lost: does any volume move?',
  happens: 'nothing: the controller manager is killed, and the next one begins every wait anew',
  certificate: 'that process is gone',
  isOfControlPlane: true,
  isOverAtOnce: true,
  delaysNotReady: true,
  unsettlesAttachments: true,
  needs: ['component-kill'],
});
