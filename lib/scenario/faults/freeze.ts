/**
 * Every process of the victim stands still, its open files and its cache stay. Thawed after the
 * hand-over it is the zombie, which goes on as if no time had passed.
 */
import { faultKind } from './kind.ts';

export const freeze = faultKind({
  name: 'freeze',
  question:
    'A node stands still and is thawed after the hand-over: does it write over its successor?',
  words: 'the old node stands still and comes back later',
  happens: 'every process is frozen until the heal: thawed after the hand-over it is the zombie',
  certificate: 'it is frozen',
  breaks: 'freeze',
  mends: 'thaw',
  whole: ['victim runs'],
  // Its kernel still answers a connect, so that no probe comes from outside.
  broken: ['victim frozen', 'API not reached'],
  silencesKubelet: true,
  cutsClientsOff: true,
  sharesEvents: true,
  strikesSecond: true,
  needs: ['node-freeze'],
});
