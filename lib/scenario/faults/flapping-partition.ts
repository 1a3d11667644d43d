/**
 * Off the cluster's network and back on it, over and over. Each return stops an eviction; what was decided
 * meanwhile stays.
 */
import { secondsWithin, time } from '../field.ts';
import { faultKind } from './kind.ts';

export const flappingPartition = faultKind({
  name: 'flapping-partition',
  question: 'A node comes back from a partition and is cut off again: which wait goes on?',
  words: 'the old node loses the network again and again',
  happens: "off the cluster's network for `down`, on it for `up`, over and over",
  certificate: 'it reaches the API server or not, probed at every change',
  breaks: 'disconnect',
  mends: 'reconnect',
  turns: ['down', 'up'],
  whole: ['API reached', 'clients reach'],
  broken: ['API not reached', 'clients do not reach'],
  lasts: [],
  silencesKubelet: true,
  cutsClientsOff: true,
  needs: ['node-network'],
  fields: {
    // Longer than the stock grace period, and then long enough to be Ready again.
    down: time(70_000, {
      flag: 'flap-down',
      about: 'how long the node is off the network each time',
      swept: { isAsked: true, draw: secondsWithin(5, 400) },
      least: 1,
    }),
    up: time(30_000, {
      flag: 'flap-up',
      about: 'how long it is on the network in between',
      swept: { isAsked: true, draw: secondsWithin(1, 120) },
      least: 1,
    }),
  },
});
