/** Nothing is broken: what a remedy does to a healthy node. */
import { faultKind } from './kind.ts';

export const none = faultKind({
  name: 'none',
  question: 'Nothing is broken: what does a remedy for a lost node do to a healthy one?',
  happens: 'nothing: what a remedy does to a healthy node; its `at` is a time',
  certificate: 'node, kubelet and containerd run, the node is reached',
});
