/** What clients were told: sessions, invokes, outcomes and reads. */
import {
  and,
  both,
  change,
  drop,
  faultAt,
  ofType,
  repeat,
  sinceFault,
  sinceHeal,
  untilFault,
  type Alteration,
} from '../edit.ts';
import type {
  ImageRecord,
  OutcomeRecord,
  ReadRecord,
  SessionRecord,
} from '../../../lib/history/records.ts';
import type { HeldRun, TimedRecord } from '../held-run.ts';
import { recounted } from '../recount.ts';
import { inconclusive, orWorse, type EvidenceMutant } from '../mutant.ts';

const by =
  (client: string) =>
  (record: TimedRecord): boolean =>
    'client' in record && record.client === client;
const acked = (record: TimedRecord): boolean =>
  record.type === 'outcome' && record.outcome === 'ok';
const isOperation = (record: TimedRecord): boolean =>
  record.type === 'invoke' || record.type === 'outcome';

/** 97 commits of the victim, acknowledged to a client outside of the partition. */
const victimServes: Alteration = (run: HeldRun) => {
  const segment = run.segments.get('writer-outside');
  const before = segment?.records.find(
    (record) => record.type === 'session' && record.server?.node === run.story.victimNode,
  );
  if (segment === undefined || before?.type !== 'session') return;
  const t = faultAt(run) + 10_000;
  const about = { client: 'outside', connection: 77, session: 0 };
  const ops = Array.from({ length: 97 }, (_, seq) => [
    { type: 'invoke' as const, ...about, t: t + seq, seq, kind: 'append' as const },
    { type: 'outcome' as const, ...about, t: t + seq + 0.5, seq, outcome: 'ok' as const },
  ]).flat();
  segment.records = [...segment.records, { ...before, ...about, t }, ...ops];
};

/** A client read a row that no image has, and nobody wrote. */
const phantomRead: Alteration = (run) => {
  for (const segment of run.segments.values()) {
    const read = segment.records.findLast(
      (record) => record.type === 'read' && record.head !== undefined,
    );
    if (read?.type !== 'read' || read.head === undefined) continue;
    const head = { ...read.head, session: 999, seq: 999 };
    segment.records = [
      ...segment.records,
      { ...read, t: read.t + 1, sentAtMs: read.sentAtMs + 1, head },
    ];
  }
};

/** What the victim told a client on its side of the partition, told to the one outside as well. */
const victimRead: Alteration = recounted((run) => {
  const segment = run.segments.get('reads-outside');
  const told = run.segments
    .get('reads-inside')
    ?.records.find((record) => record.type === 'read' && record.t > faultAt(run) + 10_000);
  if (segment === undefined || told?.type !== 'read') return;
  const at = segment.records.findIndex((record) => 't' in record && record.t > told.t);
  segment.records = segment.records.toSpliced(at, 0, { ...told, client: 'outside' });
});

/** 40 commits nobody knows the end of, on the first image and not on the second. */
const seenAndGone: Alteration = (run) => {
  const [first, second] = [run.segments.get('rows-first'), run.segments.get('rows-second')];
  const inBoth = first?.records.slice(-40) ?? [];
  const ids = new Set(inBoth.map((record) => (record.type === 'row' ? nameOf(record.row) : '')));
  change(
    (record) => acked(record) && record.type === 'outcome' && ids.has(nameOf(record)),
    (record: OutcomeRecord) => ({ ...record, outcome: 'info' }),
  )(run);
  if (second === undefined) return;
  second.records = second.records.filter(
    (record) => record.type !== 'row' || !ids.has(nameOf(record.row)),
  );
  change(
    (record) => record.type === 'image' && record.image === 'second',
    ({ evidence, ...record }: ImageRecord) => {
      const ledgerRows = second.records.length;
      const indexCounts = evidence.indexCounts.map((each) =>
        each.table === 'ledger' ? { ...each, byPrimary: ledgerRows, byIndex: ledgerRows } : each,
      );
      return { ...record, evidence: { ...evidence, ledgerRows, indexCounts } };
    },
  )(run);
};

const nameOf = ({
  client,
  connection,
  session,
  seq,
}: {
  readonly client: string;
  readonly connection: number;
  readonly session: number;
  readonly seq: number;
}): string => [client, connection, session, seq].join('/');

const withoutHead = ({ head: _head, ...record }: ReadRecord): object => record;

const alterations: readonly (readonly [string, Alteration])[] = [
  [
    'no-acknowledgement-at-all',
    change(acked, (record: OutcomeRecord) => ({ ...record, outcome: 'info' })),
  ],
  ['no-operation-at-all', drop(isOperation)],
  ['outside-journal-resealed-empty', drop(by('outside'))],
  ['inside-journal-resealed-empty', drop(by('inside'))],
  ['writers-end-at-the-fault', drop(and(isOperation, sinceFault))],
  ['outside-writer-ends-at-the-fault', drop(and(isOperation, by('outside'), sinceFault))],
  ['inside-writer-ends-at-the-fault', drop(and(isOperation, by('inside'), sinceFault))],
  ['writers-begin-at-the-fault', drop(and(isOperation, untilFault))],
  ['writers-silent-after-the-heal', drop(and(isOperation, sinceHeal))],
  ['invokes-gone', drop(ofType('invoke'))],
  ['outcomes-gone', drop(ofType('outcome'))],
  ['outcomes-of-the-outside-client-gone', drop(and(ofType('outcome'), by('outside')))],
  ['sessions-gone', drop(ofType('session'))],
  ['sessions-gone-from-the-fault-on', drop(and(ofType('session'), sinceFault))],
  ['reads-gone', drop(ofType('read'))],
  ['reads-gone-from-the-fault-on', drop(and(ofType('read'), sinceFault))],
  ['outside-reads-gone', drop(and(ofType('read'), by('outside')))],
  [
    'outcomes-five-minutes-late',
    change(and(ofType('outcome'), sinceFault), (record: OutcomeRecord) => ({
      ...record,
      t: record.t + 300_000,
    })),
  ],
  ['outcomes-contradict-themselves', repeat(acked, 0.001)],
];

export const clients: readonly EvidenceMutant[] = [
  // A server that has shown rows and then shows none has lost them, or its reader is blind.
  {
    name: 'reads-of-an-empty-ledger',
    base: 'fenced',
    right: orWorse,
    alter: change(and(ofType('read'), sinceFault), withoutHead),
  },
  ...alterations.map(([name, alter]) => ({
    name,
    base: 'fenced' as const,
    right: inconclusive,
    alter,
  })),
  {
    name: 'sessions-on-another-node',
    base: 'fenced',
    right: orWorse,
    alter: change(
      (record) => record.type === 'session' && record.server !== undefined,
      (record: SessionRecord, { story }) => ({
        ...record,
        server: {
          ...record.server,
          node: story.setup?.nodes.find((node) => node !== record.server?.node),
        },
      }),
    ),
  },
  {
    name: 'victim-serves-outside-in-the-partition',
    base: 'fenced',
    right: orWorse,
    alter: victimServes,
  },
  {
    name: 'victim-read-from-outside-in-the-partition',
    base: 'fenced',
    right: orWorse,
    alter: victimRead,
  },
  { name: 'row-read-that-is-on-no-image', base: 'fenced', right: orWorse, alter: phantomRead },
  { name: 'commits-seen-and-gone', base: 'fenced', right: ['lost', 'corrupt'], alter: seenAndGone },
  {
    name: 'journal-and-disk-lack-the-same-rows',
    base: 'fenced',
    right: orWorse,
    alter: both(drop(and(isOperation, sinceFault)), (run) => {
      for (const name of ['rows-first', 'rows-second']) {
        const rows = run.segments.get(name);
        if (rows !== undefined) rows.records = rows.records.slice(0, 20);
      }
    }),
  },
  {
    name: 'rate-zero-and-nothing-there',
    base: 'fenced',
    right: inconclusive,
    alter: both(drop(isOperation), drop(ofType('read'))),
  },
];
