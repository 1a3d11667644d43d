/**
 * Clients that are silent, late, blind or gone, and lie in good order: beats and counts fit what is
 * left of their records.
 */
import type { ClientBeatRecord, ReadRecord, WorkloadRecord } from '../../../lib/history/records.ts';
import {
  and,
  change,
  drop,
  faultAt,
  ofType,
  sinceFault,
  untilFault,
  type Alteration,
} from '../edit.ts';
import type { HeldRun, TimedRecord } from '../held-run.ts';
import { inconclusive, type EvidenceMutant } from '../mutant.ts';
import { recounted } from '../recount.ts';

const by =
  (client: string) =>
  (record: TimedRecord): boolean =>
    'client' in record && record.client === client;
const isOperation = (record: TimedRecord): boolean =>
  record.type === 'invoke' || record.type === 'outcome';
const isWork = (record: TimedRecord): boolean => isOperation(record) || record.type === 'session';
const onConnection =
  (connection: number) =>
  (record: TimedRecord): boolean =>
    isWork(record) && 'connection' in record && record.connection === connection;
const beats = ofType('client-beat');
const inTheLastMinute = (record: TimedRecord, { story }: HeldRun): boolean =>
  record.t >= (story.secondImageAtMs ?? story.endAtMs) - 60_000;

/** It leaves at that time, with a last beat, as if it had been told to. */
const leaves =
  (client: string, startOf: (run: HeldRun) => number): Alteration =>
  (run) => {
    const atMs = startOf(run);
    for (const segment of run.segments.values()) {
      const isOwn = (record: { readonly type: string }): boolean =>
        'client' in record && record.client === client;
      if (!segment.records.some((record) => record.type === 'client-beat' && isOwn(record)))
        continue;
      segment.records = segment.records.filter((record) => 't' in record && record.t < atMs);
      const last = segment.records.findLast((record) => record.type === 'client-beat');
      if (last?.type === 'client-beat') {
        segment.records = [...segment.records, { ...last, t: atMs, last: true }];
      }
    }
    recounted(() => undefined)(run);
  };

/** The same row again and again, as from a cache. */
const frozenReads: Alteration = (run) => {
  for (const segment of run.segments.values()) {
    const last = segment.records.findLast(
      (record) => record.type === 'read' && record.t < faultAt(run) && record.head !== undefined,
    );
    if (last?.type !== 'read' || last.head === undefined) continue;
    const { head } = last;
    segment.records = segment.records.map((record) =>
      record.type === 'read' && record.t >= faultAt(run) ? { ...record, head } : record,
    );
  }
};

/** It tries as often, and gets no answer. */
const refusedReads =
  (fits: (record: TimedRecord, run: HeldRun) => boolean): Alteration =>
  (run) => {
    for (const segment of run.segments.values()) {
      let refused = 0;
      segment.records = segment.records.flatMap((record) => {
        if (record.type === 'read' && fits(record, run)) {
          refused += 1;
          return [];
        }
        if (record.type !== 'client-beat' || record.doing !== 'reading') return [record];
        const tries = (record.done['refused'] ?? 0) + refused;
        return [{ ...record, done: { ...record.done, refused: tries } }];
      });
    }
    recounted(() => undefined)(run);
  };

const plan = (become: (record: WorkloadRecord) => object): Alteration =>
  change(ofType('workload'), become);

const alterations: readonly (readonly [string, Alteration])[] = [
  ['silent-from-the-fault-on', recounted(drop(and(isWork, sinceFault)))],
  ['outside-silent-from-the-fault-on', recounted(drop(and(isWork, by('outside'), sinceFault)))],
  ['inside-silent-from-the-fault-on', recounted(drop(and(isWork, by('inside'), sinceFault)))],
  ['silent-until-the-fault', recounted(drop(and(isWork, untilFault)))],
  ['silent-in-the-last-minute', recounted(drop(and(isWork, inTheLastMinute)))],
  ['one-connection-silent', recounted(drop(onConnection(1)))],
  [
    'one-connection-silent-from-the-fault-on',
    recounted(drop(and(onConnection(1), by('inside'), sinceFault))),
  ],
  ['operations-gone', recounted(drop(isOperation))],
  ['outcomes-gone', recounted(drop(ofType('outcome')))],
  ['sessions-gone', recounted(drop(ofType('session')))],
  ['outside-leaves-at-the-fault', leaves('outside', faultAt)],
  ['inside-leaves-at-the-fault', leaves('inside', faultAt)],
  ['readers-get-no-answer', refusedReads(() => true)],
  ['readers-get-no-answer-from-the-fault-on', refusedReads(sinceFault)],
  ['readers-try-nothing-from-the-fault-on', recounted(drop(and(ofType('read'), sinceFault)))],
  ['readers-are-frozen-at-the-fault', frozenReads],
  [
    'readers-never-see-a-row',
    change(ofType('read'), ({ head: _head, ...record }: ReadRecord) => record),
  ],
  ['beats-gone', drop(beats)],
  ['beats-gone-from-the-fault-on', drop(and(beats, sinceFault))],
  ['last-beats-gone', drop((record) => record.type === 'client-beat' && record.last === true)],
  [
    'beats-tell-of-more',
    change(beats, (record: ClientBeatRecord) => ({
      ...record,
      done: { ...record.done, outcome: (record.done['outcome'] ?? 0) + 100 },
    })),
  ],
  ['plan-gone', drop(ofType('workload'))],
  ['plan-of-one-client', plan((record) => ({ ...record, clients: record.clients.slice(0, 1) }))],
  [
    'plan-of-a-lower-rate',
    plan((record) => ({
      ...record,
      clients: record.clients.map((client) => ({ ...client, rate: 0.001 })),
    })),
  ],
  [
    'plan-without-reads',
    plan((record) => ({
      ...record,
      clients: record.clients.map(({ readEveryMs: _readEveryMs, ...client }) => client),
    })),
  ],
  [
    'plan-came-after-the-fault',
    change(ofType('workload'), (record: WorkloadRecord, run) => ({
      ...record,
      t: faultAt(run) + 1000,
    })),
  ],
];

export const silentClients: readonly EvidenceMutant[] = alterations.map(([name, alter]) => ({
  ...{ name: `clients-${name}`, base: 'fenced', right: inconclusive },
  alter,
}));
