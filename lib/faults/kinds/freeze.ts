/** Every process stands still until the heal: the zombie. */
import { faultKind } from './kind.ts';

export const freeze = faultKind({
  name: 'freeze',
  question:
    'A node stands still and is thawed after the hand-over: does it write over its successor?',
  happens: 'every process stands still until the heal: thawed after the hand-over it is the zombie',
  certificate: 'it is frozen',
  silencesKubelet: true,
  cutsClientsOff: true,
  sharesEvents: true,
  needs: ['node-freeze'],
});
