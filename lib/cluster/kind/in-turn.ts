/** What the runs of all clusters do in turn, since the machine's processors and memory are one. */
import pLimit, { type LimitFunction } from 'p-limit';
import type { Disk } from '../../storage/port.ts';
import type { Auditor } from '../auditor-port.ts';

/**
 * A start is seconds of a whole core and as many of waiting: eight at once are not Ready in time. The
 * runs of all clusters share these turns. Where two events of eight started two at a time each, their
 * faults began after 431 and 641 s; one alone began after 205 s.
 */
export const startInTurn = pLimit(2);

/**
 * For all clusters: each fills the memory with pages to be written, and at the kernel's limit of those
 * whoever writes waits, the runner too. Beside the copies of three events it stood for 3.3 s.
 */
const copyInTurn = pLimit(1);
/** With one at a time the last images of 24 volumes were audited twelve minutes after their copies. */
const auditInTurn = pLimit(2);

let newest: Promise<unknown> = Promise.resolve();

/**
 * Clusters are made one after the other, in the order in which they are asked for: on two cores one
 * with its driver is up after 60 s; of three that were made at once the first was after 4 minutes.
 * Whose cluster is up waits for the others: beside a cluster that is made, timers were 3 to 5 % late.
 */
export async function clusterInTurn<T>(make: () => Promise<T>): Promise<T> {
  const mine = newest.then(make);
  newest = mine.catch(() => undefined);
  const made = await mine;
  for (let waitedFor: Promise<unknown> | undefined; waitedFor !== newest; ) {
    waitedFor = newest;
    await waitedFor;
  }
  return made;
}

export const copyingInTurn = (disk: Disk): Disk => ({
  ...disk,
  copy: (label, freeze, signal) => copyInTurn(() => disk.copy(label, freeze, signal)),
});

/** `own`: turns that it has to wait for besides. */
export const auditingInTurn = (auditor: Auditor, own: LimitFunction): Auditor => ({
  audit: (image, onRow, signal) =>
    own(() => auditInTurn(() => auditor.audit(image, onRow, signal))),
});
