/**
 * The victim loses the control plane and nothing else. Kubernetes takes it for dead while its database
 * serves every client.
 */
import { faultKind } from './kind.ts';

export const apiPartition = faultKind({
  name: 'api-partition',
  question:
    'A node loses only the control plane: does a second one write what its clients still use?',
  words: 'the old node loses the control plane and keeps serving clients',
  happens: 'off the control plane alone: all clients still reach the database',
  certificate: 'it reaches no API server, clients reach it',
  breaks: 'isolate',
  mends: 'rejoin',
  whole: ['API reached', 'clients reach'],
  broken: ['API not reached', 'clients reach', 'victim still runs'],
  silencesKubelet: true,
  sharesEvents: true,
  strikesSecond: true,
  needs: ['node-isolation'],
});
