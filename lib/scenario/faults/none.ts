/** Nothing is broken: the certificates say so while a remedy acts on a healthy node. */
import { whole } from '../field.ts';
import { faultKind } from './kind.ts';

export const none = faultKind({
  name: 'none',
  question: 'Nothing is broken: what does a remedy for a lost node do to a healthy one?',
  words: 'no node fails',
  happens: 'nothing: what a remedy does to a healthy node; its `at` is a time',
  certificate: 'node, kubelet and containerd run, the node is reached',
  breaks: 'nothing',
  mends: 'nothing',
  whole: ['victim runs', 'agents run', 'API reached', 'clients reach'],
  broken: ['victim runs', 'agents run', 'API reached', 'clients reach'],
  // A second fault may take the API server away meanwhile.
  lasts: ['victim runs', 'agents run'],
  leastMs: 0,
  sharesEvents: true,
  fields: {
    recreations: whole([0, 1000], 0, {
      about: 'delete the pod so many times; it stays on its node, and no second mount is expected',
      needs: 'drain',
    }),
  },
});
