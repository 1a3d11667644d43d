/** The csi-attacher answers nobody. */
import { faultKind } from './kind.ts';

export const attacherDown = faultKind({
  name: 'attacher-down',
  question: 'The csi-attacher answers nobody, no node is lost: does any volume move?',
  happens: 'nothing: the csi-attacher stands still, so that nothing is attached or detached',
  certificate: 'it is stopped',
  isOfControlPlane: true,
  unsettlesAttachments: true,
  needs: ['component-stall'],
});
