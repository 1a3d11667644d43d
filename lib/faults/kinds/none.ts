/** Nothing is broken: what a remedy does to a healthy node. */
import { whole } from '../../fields/field.ts';
import { faultKind } from './kind.ts';

export const none = faultKind({
  name: 'none',
  question: 'Nothing is broken: what does a remedy for a lost node do to a healthy one?',
  happens: 'nothing: what a remedy does to a healthy node; its `at` is a time',
  certificate: 'node, kubelet and containerd run, the node is reached',
  sharesEvents: true,
  fields: {
    recreations: whole('fault.recreations', [0, 1000], 0, {
      flags: '--recreations <n>',
      about:
        'instead of waiting for a second mount the pod is deleted so often, and stays on its node',
      of: ['none'],
      needs: 'drain',
    }),
  },
});
