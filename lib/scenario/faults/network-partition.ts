/**
 * The victim is off the cluster's network, alive and writing. Where its storage hangs on the same cable
 * (`link`), its path to the disk stalls or fails as well.
 */
import { storageLinks } from '../disk-kinds.ts';
import { choice } from '../field.ts';
import { faultKind } from './kind.ts';

export const networkPartition = faultKind({
  name: 'network-partition',
  question: 'A node is cut off but alive: does Kubernetes let a second node write its volume?',
  words: 'the old node loses the cluster’s network and keeps running',
  happens:
    "off the cluster's network, alive; its database goes on writing, its clients on the same side go on committing",
  certificate: 'it reaches no API server and no client outside reaches it',
  breaks: 'disconnect',
  mends: 'reconnect',
  whole: ['API reached', 'clients reach'],
  broken: ['API not reached', 'clients do not reach', 'victim still runs'],
  silencesKubelet: true,
  cutsClientsOff: true,
  sharesEvents: true,
  strikesSecond: true,
  needs: ['node-network'],
  fields: {
    link: choice(storageLinks, 'survives', {
      about: 'what a partition does to the victim’s path to the disk',
      swept: { isAsked: true },
      needs: 'storage-link',
    }),
  },
});
