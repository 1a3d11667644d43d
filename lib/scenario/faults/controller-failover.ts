/**
 * The leading controller manager is gone, and a standby leads once the old lease has not moved for 15 s as it
 * sees it (client-go leaderelection.go, LeaseDuration). A leader that stands still comes to the same where a
 * standby takes its lease. Clusters made here have one control plane and no standby: only the model plays it.
 */
import { faultKind } from './kind.ts';

export const controllerFailover = faultKind({
  name: 'controller-failover',
  question: 'A standby controller manager takes over, no node is lost: does any volume move?',
  words: 'a standby controller manager takes over',
  happens: 'nothing: the leading controller manager ends, and a standby starts every wait again',
  certificate: 'that process is gone',
  breaks: 'fail over controller-manager',
  mends: 'await controller-manager',
  whole: ['controller-manager runs'],
  broken: [],
  isOfControlPlane: true,
  isOverAtOnce: true,
  delaysNotReady: true,
  unsettlesAttachments: true,
  needs: ['standby-manager'],
});
