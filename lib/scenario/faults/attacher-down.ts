/** The csi-attacher stands still until the heal: nothing takes its place. */
import { faultKind } from './kind.ts';

export const attacherDown = faultKind({
  name: 'attacher-down',
  question: 'The csi-attacher stops answering, no node is lost: does any volume move?',
  words: 'the csi-attacher stops answering',
  happens: 'nothing: the csi-attacher is stopped, so nothing is attached or detached',
  certificate: 'it is stopped',
  breaks: 'stall attacher',
  mends: 'resume attacher',
  whole: ['attacher runs'],
  broken: ['attacher stalled'],
  isOfControlPlane: true,
  unsettlesAttachments: true,
  needs: ['component-stall'],
});
