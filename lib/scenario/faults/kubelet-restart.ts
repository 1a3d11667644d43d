/** The kubelet forgets what it had in memory and reads mounts and pods anew; what it started runs on. */
import { faultKind } from './kind.ts';

export const kubeletRestart = faultKind({
  name: 'kubelet-restart',
  question: 'A kubelet is started again: does its pod keep its volume?',
  words: 'the kubelet of the old node restarts',
  happens: 'the kubelet is ended and started again; the database runs on',
  certificate: 'another kubelet process runs',
  breaks: 'restart kubelet',
  mends: 'nothing',
  whole: ['agents run'],
  broken: [],
  isOverAtOnce: true,
  strikesSecond: true,
  needs: ['kubelet-restart'],
});
