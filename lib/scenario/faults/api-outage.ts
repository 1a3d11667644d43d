/** The API server stands still until the heal: nothing takes its place. */
import { faultKind } from './kind.ts';

export const apiOutage = faultKind({
  name: 'api-outage',
  question: 'The API server stops answering, no node is lost: does any volume move?',
  words: 'the API server stops answering',
  happens: 'nothing: the API server is stopped, and so is the kubelet that would replace it',
  certificate: 'it is stopped',
  breaks: 'stall api-server',
  mends: 'resume api-server',
  whole: ['api-server runs'],
  broken: ['api-server stalled'],
  isOfControlPlane: true,
  silencesApi: true,
  delaysNotReady: true,
  unsettlesAttachments: true,
  needs: ['component-stall'],
});
