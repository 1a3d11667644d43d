/** Which disks keep a second writer out, once Kubernetes has let one in. */
import { overlapping, unflushedAtCut, type ExpectationReason } from './situation.ts';

/** They cut at a detach, or a while after it: too late for a node that was let in before. */
const cuttingAtDetach = ['ack-early', 'fence-if-out-of-service', 'fenced'] as const;

export const diskRows: readonly ExpectationReason[] = [
  {
    when: { 'disk.mode': ['shared-file'], 'disk.fileLocks': ['shared'] },
    verdicts: ['safe'],
    because: 'nothing is attached, the successor mounts at once, and its server waits for the lock',
  },
  {
    when: { 'disk.mode': ['shared-file'] },
    verdicts: overlapping,
    because: 'each node has locks of its own: two servers open the same files',
  },
  {
    when: {
      'disk.mode': ['fenced', 'reservation'],
      'volume.accessMode': ['ReadWriteOnce', 'ReadWriteOncePod'],
      ...{ 'database.trxCommit': [0, 2], victim: ['busy'], attachment: ['counted'] },
      ...{ release: ['timeout', 'taint', 'by hand'], 'fault.link': ['survives'] },
    },
    verdicts: ['safe', 'lost'],
    because: unflushedAtCut,
  },
  {
    when: { 'disk.mode': ['reservation'] },
    verdicts: ['safe'],
    because: 'the successor’s staging pre-empts the victim, and its held writes are refused',
  },
  {
    when: { 'disk.mode': ['exclusive'], 'disk.watcherCheck': ['missing'] },
    verdicts: ['safe'],
    because: 'without an answer about watchers the staging fails: no second mount, no service',
  },
  {
    when: { 'disk.mode': ['exclusive'], 'fault.link': ['survives'] },
    verdicts: ['safe'],
    because: 'the victim still watches the image: the staging is refused until it has unmounted',
  },
  {
    when: { release: ['unasked'], 'disk.mode': cuttingAtDetach },
    verdicts: overlapping,
    because: 'the storage gets no detach request, so it cuts no node off and lets the next one in',
  },
  {
    when: { release: ['raced'], 'disk.attachWhileBusy': ['granted'], 'disk.mode': cuttingAtDetach },
    verdicts: ['safe', ...overlapping],
    because:
      'whether the storage was asked to detach, and cut the victim off, before the finalizer was ' +
      'gone is chance; the next node is let in either way',
  },
  {
    when: { attachment: ['perhaps uncertain'], 'disk.mode': cuttingAtDetach },
    verdicts: ['safe', ...overlapping],
    because:
      'a new leader or a detach that timed out may leave the attachment uncertain: the storage ' +
      'lets the next node in before it is asked to cut the victim off',
  },
  {
    when: { 'disk.mode': ['pending-while-busy'], 'disk.attachWhileBusy': ['refused'] },
    verdicts: ['safe'],
    because: 'neither detach nor attach elsewhere is granted while the victim has it mounted',
  },
  {
    when: { 'disk.mode': ['fence-if-out-of-service'], release: ['taint'] },
    verdicts: ['safe'],
    because: 'the taint is there, so the detach cuts the victim off before it answers',
  },
  {
    when: { 'disk.mode': ['fenced'], 'volume.accessMode': ['ReadWriteOnce', 'ReadWriteOncePod'] },
    verdicts: ['safe'],
    because: 'the detach comes before the attach and cuts the victim off; held writes are refused',
  },
  {
    when: {
      'disk.mode': ['fenced'],
      'volume.accessMode': ['ReadWriteMany'],
      'fault.link': ['stalls', 'errors'],
    },
    verdicts: ['safe', ...overlapping],
    because:
      'the victim’s path is down, so two write only if it is healed before the detach cuts the victim off',
  },
  {
    when: { 'disk.mode': ['fenced'], release: ['taint'] },
    verdicts: ['safe'],
    because: 'the detach does not wait, and cuts the victim off long before a mount is ready',
  },
  {
    when: {
      'disk.mode': ['ack-early'],
      'volume.accessMode': ['ReadWriteOnce', 'ReadWriteOncePod'],
      cut: ['at once'],
    },
    verdicts: ['safe'],
    because: 'the cut comes before the successor can have mounted',
  },
  {
    when: {
      'disk.mode': ['ack-early'],
      'volume.accessMode': ['ReadWriteOnce', 'ReadWriteOncePod'],
      cut: ['soon', 'before the heal'],
      'fault.link': ['stalls', 'errors'],
    },
    verdicts: ['safe'],
    because: 'nothing of the victim arrives until it is cut off, and its held writes are refused',
  },
];
