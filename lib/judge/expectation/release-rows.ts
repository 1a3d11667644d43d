/** What Kubernetes lets happen to a volume, before the disk is asked. */
import { sparing } from './release.ts';
import { overlapping, unflushedAtCut, type ExpectationReason } from './situation.ts';

export const releaseRows: readonly ExpectationReason[] = [
  {
    when: { release: ['fenced first'], 'database.trxCommit': [0, 2], victim: ['busy'] },
    verdicts: ['safe', 'lost'],
    because: unflushedAtCut,
  },
  {
    when: { release: ['fenced first'] },
    verdicts: ['safe'],
    because: 'every path of the victim was cut before anything let a successor in',
  },
  {
    when: { 'fault.kind': sparing, release: ['taint'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the node is whole and unmounts, but the out-of-service taint does not wait until it has',
  },
  {
    when: { 'fault.kind': sparing, 'remedy.kind': ['delete-node'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the node is whole and unmounts, but without its Node object it cannot report that to the ' +
      'forced detach',
  },
  {
    when: { 'fault.kind': sparing },
    verdicts: ['safe'],
    because: 'the node is whole: its kubelet unmounts before the volume is detached',
  },
  {
    when: { release: ['kept by the pod'] },
    verdicts: ['safe'],
    because:
      'the Terminating pod keeps its attachment and its name: no second pod, no second mount',
  },
  {
    when: { release: ['kept by the lease'] },
    verdicts: ['safe'],
    because:
      'something wrote to its Lease: since 1.37 the node then counts as alive, no pod is evicted, and ' +
      'a volume in use on a healthy node stays attached',
  },
  {
    when: { attachment: ['perhaps uncertain'], release: ['kept by the controller'] },
    verdicts: ['safe', ...overlapping],
    because:
      'no detach is forced, but a new leader or a detach that timed out may leave the ' +
      'attachment uncertain, and the storage lets the next node in',
  },
  {
    when: { release: ['kept by the controller'] },
    verdicts: ['safe'],
    because:
      'with --disable-force-detach-on-timeout a volume in use stays attached: no second mount',
  },
  {
    when: { release: ['unasked'], 'disk.attachWhileBusy': ['refused'] },
    verdicts: ['safe'],
    because:
      'the storage gets no detach request, so it still counts the victim and refuses the next node',
  },
  {
    when: { release: ['contested'] },
    verdicts: ['safe', ...overlapping],
    because: 'two pods wait for the volume, and the controller draws whose node gets it',
  },
  {
    when: { selfFenced: ['in time'], 'selfFence.kind': ['lease-read-only'] },
    verdicts: ['safe'],
    because: 'the sidecar ended the database and took its file system away in time',
  },
  {
    when: { selfFenced: ['in time'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the sidecar ended the database in time, but the node’s clean unmount may still write over ' +
      'the successor’s file system',
  },
  {
    when: { release: ['untainted early'] },
    verdicts: ['safe', ...overlapping],
    because:
      'the pod GC looks every 20 s: it may or may not see the taint before it is taken away again',
  },
];
