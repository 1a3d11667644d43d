/** The kubelet is ended and started again. */
import { faultKind } from './kind.ts';

export const kubeletRestart = faultKind({
  name: 'kubelet-restart',
  question: 'A kubelet is started again: does its pod keep its volume?',
  happens: 'the kubelet is ended and started again; the database runs on',
  certificate: 'another kubelet process runs',
  isOverAtOnce: true,
  needs: ['kubelet-restart'],
});
