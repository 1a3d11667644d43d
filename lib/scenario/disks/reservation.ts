/**
 * Staging registers the node and pre-empts the others: their paths are cut, and what they have under
 * way is aborted, as by PREEMPT AND ABORT of SCSI-3 persistent reservations and NVMe's reservation
 * acquire. A detach is bookkeeping. Stricter than the standards in one thing: a node that was
 * pre-empted needs a new attachment, and cannot register again by itself.
 */
import { diskMode } from './mode.ts';

export const reservation = diskMode({
  name: 'reservation',
  does: 'lets the next node pre-empt the old one, which then cannot write',
  more: '(SCSI-3 persistent reservations, NVMe); it does so when it stages the volume',
  stage: { cutsOthers: true },
});
