/** Off the control plane only: clients still reach the database. */
import { faultKind } from './kind.ts';

export const apiPartition = faultKind({
  name: 'api-partition',
  question:
    'A node loses only the control plane: does a second one write what its clients still use?',
  happens: 'off the control plane alone: all clients still reach the database',
  certificate: 'it reaches no API server, clients reach it',
  silencesKubelet: true,
  sharesEvents: true,
  needs: ['node-isolation'],
});
