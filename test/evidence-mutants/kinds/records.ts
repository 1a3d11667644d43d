/** What no attack on a witness makes: several records altered so that they fit each other, and records added. */
import type {
  CopyIdentity,
  ImageEvidence,
  ImageLabel,
  IndexCount,
  LedgerRow,
} from '../../../lib/history/evidence.ts';
import type {
  CopyRecord,
  HistoryRecord,
  ImageRecord,
  MachineRecord,
  OutcomeRecord,
  RunRecord,
} from '../../../lib/history/records.ts';
import type { MysqlImage } from '../../../lib/mysql/evidence.ts';
import {
  add,
  and,
  both,
  change,
  drop,
  faultAt,
  from,
  healAt,
  ofType,
  sinceFault,
  type Alteration,
} from '../edit.ts';
import type { HeldRun, TimedRecord } from '../held-run.ts';
import { inconclusive, orWorse, type EvidenceMutant } from '../mutant.ts';
import { recounted } from '../recount.ts';

const isOperation = (record: TimedRecord): boolean =>
  record.type === 'invoke' || record.type === 'outcome';
const eachSegment =
  (become: (records: readonly HistoryRecord[], run: HeldRun) => readonly HistoryRecord[]) =>
  (run: HeldRun): void => {
    for (const segment of run.segments.values()) {
      segment.records = [...become(segment.records, run)];
    }
  };

// Clients.

/** 97 commits of the victim, acknowledged to a client outside of the partition. */
const victimServes: Alteration = (run) => {
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

/** A client read a row that no image has, and nobody wrote. */
const phantomRead = eachSegment((records) => {
  const read = records.findLast((record) => record.type === 'read' && record.head !== undefined);
  if (read?.type !== 'read' || read.head === undefined) return records;
  const head = { ...read.head, session: 999, seq: 999 };
  return [...records, { ...read, t: read.t + 1, sentAtMs: read.sentAtMs + 1, head }];
});

/** The same row again and again, as from a cache. */
const frozenReads = eachSegment((records, run) => {
  const last = records.findLast(
    (record) => record.type === 'read' && record.t < faultAt(run) && record.head !== undefined,
  );
  if (last?.type !== 'read' || last.head === undefined) return records;
  const { head } = last;
  return records.map((record) =>
    record.type === 'read' && record.t >= faultAt(run) ? { ...record, head } : record,
  );
});

/** It tries as often, and gets no answer. */
const refusedReads = recounted(
  eachSegment((records, run) => {
    let refused = 0;
    return records.flatMap((record) => {
      if (record.type === 'read' && sinceFault(record, run)) {
        refused += 1;
        return [];
      }
      if (record.type !== 'client-beat' || record.doing !== 'reading') return [record];
      const tries = (record.done['refused'] ?? 0) + refused;
      return [{ ...record, done: { ...record.done, refused: tries } }];
    });
  }),
);

/** It leaves at the fault, with a last beat, as if it had been told to. */
const leaves = (client: string): Alteration =>
  recounted(
    eachSegment((records, run) => {
      const isOwn = records.some(
        (record) => record.type === 'client-beat' && record.client === client,
      );
      const left = records.filter((record) => 't' in record && record.t < faultAt(run));
      const last = left.findLast((record) => record.type === 'client-beat');
      if (!isOwn || last?.type !== 'client-beat') return records;
      return [...left, { ...last, t: faultAt(run), last: true }];
    }),
  );

const nameOf = ({ client, connection, session, seq }: Omit<OutcomeRecord, 't'>): string =>
  [client, connection, session, seq].join('/');

/** 40 commits nobody knows the end of, on the first image and not on the second. */
const seenAndGone: Alteration = (run) => {
  const rows = run.segments.get('rows-first')?.records.slice(-40) ?? [];
  const ids = new Set(
    rows.map((record) => (record.type === 'row' ? nameOf(record.row as never) : '')),
  );
  change(
    (record) => record.type === 'outcome' && record.outcome === 'ok' && ids.has(nameOf(record)),
    (record: OutcomeRecord) => ({ ...record, outcome: 'info' }),
  )(run);
  countedRows(-40, (all) => all.filter((row) => !ids.has(nameOf(row as never))))(run);
  inLedger((each) => ({ ...each, byPrimary: each.byPrimary - 40, byIndex: each.byIndex - 40 }))(
    run,
  );
};

// Images and copies.

const ofImage =
  (type: 'copy' | 'image', label: ImageLabel) =>
  (record: TimedRecord): boolean =>
    record.type === type && record.image === label;

const lacking = (become: (evidence: MysqlImage) => object, label: ImageLabel = 'second') =>
  change(ofImage('image', label), ({ evidence, ...record }: ImageRecord) => ({
    ...record,
    evidence: { ...evidence, ...become(evidence) },
  }));

const inLedger = (become: (count: IndexCount) => IndexCount): Alteration =>
  lacking(({ indexCounts }) => ({
    indexCounts: indexCounts.map((each) => (each.table === 'ledger' ? become(each) : each)),
  }));

const rowsOf =
  (become: (rows: readonly LedgerRow[]) => readonly LedgerRow[]): Alteration =>
  (run) => {
    const segment = run.segments.get('rows-second');
    if (segment === undefined) return;
    const rows = segment.records.flatMap((record) => (record.type === 'row' ? [record.row] : []));
    segment.records = become(rows).map((row) => ({ type: 'row', image: 'second', row }));
  };
/** Another number of rows, and the audit counts as many. */
const countedRows = (more: number, become: (rows: readonly LedgerRow[]) => readonly LedgerRow[]) =>
  both(
    rowsOf(become),
    lacking(({ ledgerRows }) => ({ ledgerRows: ledgerRows + more })),
  );
const rowAt = (n: number, changed: (row: LedgerRow) => Partial<LedgerRow>): Alteration =>
  rowsOf((rows) => rows.map((row, at) => (at === n ? { ...row, ...changed(row) } : row)));

/** Its maker and its opener say this of the copy. */
const copiedAs = (label: ImageLabel, about: Partial<CopyIdentity>): Alteration =>
  both(
    change(ofImage('copy', label), (record: CopyRecord) => ({
      ...record,
      made: { ...record.made, ...about },
    })),
    lacking(({ opened }) => ({ opened: { ...opened, ...about } }), label),
  );

const uuid = '00000000-0000-4000-8000-000000000009';

/** The file system that an audit read. A server's GTIDs have its UUID. */
const readAs = (label: ImageLabel, serverUuid?: string): Alteration =>
  change(ofImage('image', label), ({ evidence, ...record }: ImageRecord) => {
    const own = evidence.serverUuid ?? '';
    const text = JSON.stringify(evidence).replaceAll(own, serverUuid ?? own);
    return {
      ...record,
      evidence: { ...(JSON.parse(text) as ImageEvidence), filesystemUuid: uuid },
    };
  });

/** What one image was is told of the other as well; `isSwapped`: and the other way round. */
const auditedAs =
  (isSwapped: boolean): Alteration =>
  (run) => {
    const images = run.segments.get('run')?.records.filter((each) => each.type === 'image') ?? [];
    const [first, second] = (['first', 'second'] as const).map((label) => ({
      evidence: images.find(({ image }) => image === label)?.evidence,
      rows: run.segments.get(`rows-${label}`)?.records ?? [],
    }));
    const become = (image: ImageLabel, other: typeof first): void => {
      const segment = run.segments.get(`rows-${image}`);
      if (segment === undefined || other === undefined) return;
      segment.records = other.rows.map((each) => ('row' in each ? { ...each, image } : each));
      lacking(() => ({ ...other.evidence }), image)(run);
    };
    become('second', first);
    if (isSwapped) become('first', second);
  };

/** All that the first copy was is told of the second. */
const sameCopy: Alteration = (run) => {
  const copy = run.segments
    .get('run')
    ?.records.find((record) => record.type === 'copy' && record.image === 'first');
  if (copy?.type === 'copy') copiedAs('second', copy.made)(run);
};

const ofAnotherRun = (client: string): Alteration =>
  eachSegment((records) =>
    records.map((record) =>
      'client' in record && record.client === client && 'session' in record
        ? { ...record, session: (record.session ?? 0) + 500 }
        : record,
    ),
  );

type Named = Readonly<Record<string, Alteration>>;

const unproven: Named = {
  'readers-are-frozen-at-the-fault': frozenReads,
  'readers-get-no-answer': refusedReads,
  'outside-leaves-at-the-fault': leaves('outside'),
  'inside-leaves-at-the-fault': leaves('inside'),
  'rate-zero-and-nothing-there': both(drop(isOperation), drop(ofType('read'))),
  'an-error': add((run) => [{ type: 'error', t: healAt(run), where: 'watch', message: 'planted' }]),
  'phase-steady-gone': drop((record) => record.type === 'phase' && record.phase === 'steady'),
  'remedy-gone': drop((record) => record.type === 'action' && record.actor === 'remedy'),
  'certificates-asked-again-gone': drop(
    (record, run) =>
      record.type === 'certificate' &&
      record.moment === 'during' &&
      record.t > faultAt(run) + 60_000,
  ),
  'timer-a-minute-late': change(and(ofType('machine'), sinceFault), (record: MachineRecord) => ({
    ...record,
    timerLagMs: 60_000,
  })),
  'a-controller-manager-takes-over-by-itself': add((run) => [
    {
      ...({ type: 'observation', source: 'controller-manager', name: 'leader-acquired' } as const),
      ...{ t: faultAt(run) + 1000, data: { line: 'successfully acquired lease' } },
    },
  ]),
  'another-run-appended': add((run) => [{ ...run.story.run, runId: 'another', t: healAt(run) }]),
  'second-image-audited-twice': add(({ segments }) =>
    (segments.get('run')?.records ?? []).filter(
      (record): record is ImageRecord => record.type === 'image' && record.image === 'second',
    ),
  ),
  'first-and-second-audited-as-each-other': auditedAs(true),
  'stale-copy-audited-again': auditedAs(false),
  'second-copy-is-the-first': sameCopy,
  'copy-of-another-volume': copiedAs('second', { volume: 'fd-another' }),
  'copy-of-an-earlier-attachment': copiedAs('second', { generation: 1 }),
  'steady-copy-of-another-file-system': both(
    copiedAs('steady', { filesystemUuid: uuid }),
    readAs('steady'),
  ),
  'a-row-gone-that-the-counts-have': countedRows(-1, (rows) => rows.toSpliced(70, 1)),
  'a-row-doubled': countedRows(1, (rows) => rows.toSpliced(70, 0, ...rows.slice(70, 71))),
  'an-id-twice': rowAt(70, ({ id }) => ({ id: id - 1 })),
  'two-ids-swapped': both(
    rowAt(70, ({ id }) => ({ id: id + 1 })),
    rowAt(71, ({ id }) => ({ id: id - 1 })),
  ),
  'a-hash-that-the-binary-log-has': rowAt(70, () => ({ hashFits: false })),
  'a-link-that-the-binary-log-has': rowAt(70, () => ({ linkFits: false })),
  'an-amount-that-the-binary-log-refutes': rowAt(70, ({ amount }) => ({ amount: amount + 1 })),
  'seed-of-another-run': change(ofType('run'), (record: RunRecord) => ({
    ...record,
    seed: `${record.seed}-x`,
  })),
  'journal-of-the-inside-client-of-another-run': ofAnotherRun('inside'),
  'journal-of-the-outside-client-of-another-run': ofAnotherRun('outside'),
  ...Object.fromEntries(
    (['controller-manager', 'audit'] as const).map((source) => [
      `control-plane-tells-nothing-by-${source}`,
      drop(from(source)),
    ]),
  ),
};

/** Or it proves harm. */
const harmful: Named = {
  'victim-serves-outside-in-the-partition': victimServes,
  'victim-read-from-outside-in-the-partition': victimRead,
  'row-read-that-is-on-no-image': phantomRead,
  'journal-and-disk-lack-the-same-rows': both(drop(and(isOperation, sinceFault)), (run) => {
    for (const name of ['rows-first', 'rows-second']) {
      const rows = run.segments.get(name);
      if (rows !== undefined) rows.records = rows.records.slice(0, 20);
    }
  }),
};

const base = 'fenced' as const;

export const records: readonly EvidenceMutant[] = [
  ...Object.entries(unproven).map(([name, alter]) => ({ name, base, right: inconclusive, alter })),
  ...Object.entries(harmful).map(([name, alter]) => ({ name, base, right: orWorse, alter })),
  { name: 'commits-seen-and-gone', base, right: ['lost', 'corrupt'], alter: seenAndGone },
  // Copy and audit agree on it: it is this volume, and there is nothing of the run's on it any more.
  {
    name: 'formatted-anew-after-the-heal',
    base,
    right: ['corrupt'],
    alter: both(copiedAs('second', { filesystemUuid: uuid }), readAs('second', uuid)),
  },
];
