/** Observers that saw nothing: gone, silent, blind on a node, or blind to one kind of thing. */
import { and, change, drop, elsewhere, from, onVictim, saw, sinceFault } from '../edit.ts';
import { type ObservationRecord, csiCalls, observed } from '../../../lib/history/observations.ts';
import type { TimedRecord } from '../held-run.ts';
import { inconclusive, orWorse, type EvidenceMutant } from '../mutant.ts';

const needed = ['api', 'controller-manager', 'csi', 'mounts', 'devices'] as const;

const called =
  (call: string) =>
  (record: TimedRecord): boolean =>
    record.type === 'observation' && record.data.call === call;

const none = 'untouched' as const;

export const observers: readonly EvidenceMutant[] = [
  ...needed.map((source) => ({
    name: `observer-${source}-gone`,
    base: 'fenced' as const,
    right: inconclusive,
    alter: drop(from(source)),
  })),
  ...needed.map((source) => ({
    name: `observer-${source}-silent-from-the-fault-on`,
    base: 'fenced' as const,
    right: inconclusive,
    alter: drop(and(from(source), sinceFault)),
  })),
  ...(['csi', 'mounts', 'devices'] as const).map((source) => ({
    name: `observer-${source}-blind-on-the-successor`,
    base: 'fenced' as const,
    right: inconclusive,
    alter: drop(and(from(source), elsewhere)),
  })),
  {
    name: 'mounts-and-devices-blind-on-the-successor',
    base: 'fenced',
    right: inconclusive,
    alter: drop(and(from('mounts', 'devices'), elsewhere)),
  },
  { name: 'cut-never-seen', base: 'fenced', right: orWorse, alter: drop(saw(observed.deviceCut)) },
  {
    name: 'no-write-of-the-victim-before-the-fault',
    base: 'fenced',
    right: inconclusive,
    alter: change(and(saw(observed.deviceWritten), onVictim), (record: ObservationRecord) => ({
      ...record,
      data: { ...record.data, bytesWritten: 0 },
    })),
  },
  {
    name: 'victim-pod-never-seen',
    base: 'fenced',
    right: inconclusive,
    alter: drop(
      and(
        saw(observed.podRunning, observed.podCreated, observed.podReady, observed.podScheduled),
        onVictim,
      ),
    ),
  },
  {
    name: 'pod-gone-never-seen',
    base: 'fenced',
    right: inconclusive,
    alter: drop(saw(observed.podGone)),
  },
  {
    name: 'attachments-never-seen',
    base: 'fenced',
    right: inconclusive,
    alter: drop(
      saw(
        observed.attachmentCreated,
        observed.attachmentAttached,
        observed.attachmentDeleting,
        observed.attachmentGone,
      ),
    ),
  },
  {
    name: 'attachment-of-the-successor-never-seen',
    base: 'fenced',
    right: inconclusive,
    alter: drop(and(saw(observed.attachmentCreated, observed.attachmentAttached), elsewhere)),
  },
  {
    name: 'attach-never-told-by-the-driver',
    base: 'fenced',
    right: inconclusive,
    alter: drop(and(called(csiCalls.publish), sinceFault)),
  },
  {
    name: 'detach-never-told-by-the-driver',
    base: 'fenced',
    right: inconclusive,
    alter: drop(and(called(csiCalls.unpublish), sinceFault)),
  },
  {
    name: 'all-of-the-disk-blind-on-the-successor',
    base: 'fenced',
    right: inconclusive,
    alter: drop(and(from('csi', 'mounts', 'devices'), elsewhere)),
  },
  {
    name: 'mounts-never-seen',
    base: none,
    right: inconclusive,
    alter: drop(saw(observed.mounted)),
  },
  {
    name: 'unmounts-never-seen',
    base: 'damaged',
    right: orWorse,
    alter: drop(saw(observed.unmounted)),
  },
];
