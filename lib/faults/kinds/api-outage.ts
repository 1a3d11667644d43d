/** The API server answers nobody. */
import { faultKind } from './kind.ts';

export const apiOutage = faultKind({
  name: 'api-outage',
  question: 'The API server answers nobody, no node is lost: does any volume move?',
  happens: 'nothing: the API server stands still, and so does the kubelet that would replace it',
  certificate: 'it is stopped',
  isOfControlPlane: true,
  delaysNotReady: true,
  unsettlesAttachments: true,
  needs: ['component-stall'],
});
