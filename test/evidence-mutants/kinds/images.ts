/** Audited images and their rows: each part of the evidence, missing or of another volume. */
import { both, change, drop, type Alteration } from '../edit.ts';
import type { ImageRecord } from '../../../lib/history/records.ts';
import type { ImageLabel, ServerStart } from '../../../lib/history/evidence.ts';
import type { HeldRun, TimedRecord } from '../held-run.ts';
import { inconclusive, orWorse, type EvidenceMutant } from '../mutant.ts';
import type { MysqlImage } from '../../../lib/mysql/evidence.ts';

const image =
  (...labels: readonly ImageLabel[]) =>
  (record: TimedRecord): boolean =>
    record.type === 'image' && labels.includes(record.image);

const lacking = (
  become: (evidence: MysqlImage) => Partial<MysqlImage>,
  ...labels: readonly ImageLabel[]
) =>
  change(
    image(...(labels.length === 0 ? (['second'] as const) : labels)),
    ({ evidence, ...record }: ImageRecord) => ({
      ...record,
      evidence: { ...evidence, ...become(evidence) },
    }),
  );

/** The first copy's audit, told as the second's. */
const staleCopy = (run: HeldRun): void => {
  const own = run.segments.get('run');
  const first = own?.records.find((record) => record.type === 'image' && record.image === 'first');
  const rows = run.segments.get('rows-first');
  const second = run.segments.get('rows-second');
  if (first?.type !== 'image' || rows === undefined || second === undefined) return;
  second.records = rows.records.map((record) =>
    record.type === 'row' ? { ...record, image: 'second' } : record,
  );
  change(image('second'), (record: ImageRecord) => ({ ...record, evidence: first.evidence }))(run);
};

const noMemory: ServerStart = {
  purpose: 'recovery',
  ready: false,
  durationMs: 900,
  died: '1',
  errorLines: [
    '[ERROR] [MY-012681] [InnoDB] mmap(137363456 bytes) failed; errno 12',
    '[ERROR] [InnoDB] Cannot allocate memory for the buffer pool',
  ],
};

const alterations: readonly (readonly [string, Alteration])[] = [
  ['image-steady-gone', drop(image('steady'))],
  ['image-first-gone', drop(image('first'))],
  ['image-second-gone', drop(image('second'))],
  ['no-image', drop(image('steady', 'first', 'second'))],
  ['no-server-start', lacking(() => ({ starts: [] }))],
  ['no-server-start-on-any-image', lacking(() => ({ starts: [] }), 'steady', 'first', 'second')],
  [
    'no-cold-start',
    lacking(({ starts }) => ({ starts: starts.filter(({ purpose }) => purpose !== 'cold') })),
  ],
  [
    'no-check-start',
    lacking(({ starts }) => ({ starts: starts.filter(({ purpose }) => purpose !== 'check') })),
  ],
  ['check-table-of-one-table', lacking(({ tables = [] }) => ({ tables: tables.slice(0, 1) }))],
  [
    'no-table-checked',
    lacking(({ tables = [] }) => ({ tables: tables.map(({ check: _check, ...table }) => table) })),
  ],
  ['no-table', lacking(() => ({ tables: [] }))],
  ['no-index-counted', lacking(() => ({ indexCounts: [] }))],
  ['no-balances', lacking(() => ({ balances: {} }))],
  ['no-innochecksum', lacking(() => ({ innochecksum: [] }))],
  ['no-fsck', lacking(() => ({ fsck: undefined as never, fsckReplay: undefined as never }))],
  ['audit-lacks-a-part', lacking(() => ({ failures: ['the binary log could not be read'] }))],
  ['stale-copy-audited-again', staleCopy],
  [
    'images-taken-before-the-fault',
    change(image('first', 'second'), (record: ImageRecord) => ({ ...record, takenAtMs: 1 })),
  ],
  ['audit-has-no-memory', lacking(({ starts }) => ({ starts: [noMemory, ...starts.slice(1)] }))],
  [
    'mount-of-the-copy-has-no-memory',
    lacking(() => ({
      mounted: false,
      mountError: 'mount: cannot allocate memory (ENOMEM)',
      starts: [],
      ledgerComplete: false,
      ledgerRows: 0,
    })),
  ],
  [
    'sql-error-out-of-memory',
    lacking(() => ({
      sqlFailures: [
        {
          what: 'CHECK TABLE',
          error: 'ER_OUTOFMEMORY: Out of memory; restart server and try again',
        },
      ],
    })),
  ],
  [
    'innochecksum-cannot-lock',
    lacking(() => ({
      innochecksum: [
        {
          command: 'innochecksum ledger.ibd',
          exitCode: 1,
          output: 'Error: Unable to lock file: ledger.ibd',
          durationMs: 5,
        },
      ],
    })),
  ],
];

export const images: readonly EvidenceMutant[] = [
  {
    name: 'another-server',
    base: 'fenced',
    right: orWorse,
    alter: lacking(() => ({ serverUuid: '00000000-0000-4000-8000-000000000002' })),
  },
  // Formatted or initialised anew, or not this run's.
  {
    name: 'another-file-system',
    base: 'fenced',
    right: orWorse,
    alter: lacking(() => ({ filesystemUuid: '00000000-0000-4000-8000-000000000001' })),
  },
  ...alterations.map(([name, alter]) => ({
    name,
    base: 'fenced' as const,
    right: inconclusive,
    alter,
  })),
  {
    name: 'another-runs-volume-audited',
    base: 'fenced',
    right: inconclusive,
    alter: both(
      lacking(
        () => ({
          filesystemUuid: '00000000-0000-4000-8000-000000000003',
          serverUuid: '00000000-0000-4000-8000-000000000004',
        }),
        'first',
        'second',
      ),
      (run) => {
        for (const name of ['rows-first', 'rows-second']) {
          const rows = run.segments.get(name);
          if (rows !== undefined)
            rows.records = rows.records.map((record) =>
              record.type === 'row'
                ? { ...record, row: { ...record.row, session: record.row.session + 500 } }
                : record,
            );
        }
      },
    ),
  },
  {
    name: 'rows-of-the-second-image-cut-resealed',
    base: 'fenced',
    right: orWorse,
    alter: (run) => {
      const rows = run.segments.get('rows-second');
      if (rows !== undefined) rows.records = rows.records.slice(0, -20);
    },
  },
];
