/** Off the cluster's network, alive and writing. */
import { storageLinks } from '../../disk-kinds.ts';
import { choice } from '../../fields/field.ts';
import { faultKind } from './kind.ts';

export const networkPartition = faultKind({
  name: 'network-partition',
  question: 'A node is cut off but alive: does Kubernetes let a second node write its volume?',
  happens:
    "off the cluster's network, alive; its database goes on writing, its clients on the same side go on committing",
  certificate: 'it reaches no API server and nobody outside reaches it',
  silencesKubelet: true,
  cutsClientsOff: true,
  sharesEvents: true,
  needs: ['node-network'],
  fields: {
    link: choice('fault.link', storageLinks, 'survives', {
      flags: '--link <fate>',
      about: 'what a partition does to the victim’s path to the disk',
      swept: { isAsked: true },
      of: ['network-partition'],
      needs: 'storage-link',
    }),
  },
});
