/** Audited images and their rows: each part of the evidence, missing or of another volume. */
import { both, change, drop, ofType, type Alteration } from '../edit.ts';
import type { ImageRecord, RunRecord } from '../../../lib/history/records.ts';
import type {
  ImageLabel,
  IndexCount,
  LedgerRow,
  ServerStart,
} from '../../../lib/history/evidence.ts';
import type { HeldRun, TimedRecord } from '../held-run.ts';
import { inconclusive, orWorse, type EvidenceMutant } from '../mutant.ts';
import type { CommandEvidence } from '../../../lib/core/index.ts';
import type { BinlogFound, MysqlImage } from '../../../lib/mysql/evidence.ts';

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

const noMemory = [
  '[ERROR] [MY-012681] [InnoDB] mmap(137363456 bytes) failed; errno 12',
  '[ERROR] [InnoDB] Cannot allocate memory for the buffer pool',
];
const failedWith = (died: string, ...errorLines: readonly string[]): ServerStart => ({
  ...{ purpose: 'recovery', ready: false, durationMs: 900, died, errorLines },
});
/** In the words of servers and tools that could not look; the last one's nobody has seen yet. */
const failedStarts: Readonly<Record<string, ServerStart>> = {
  'has-no-memory': failedWith('exit code 1', ...noMemory),
  'finds-its-socket-taken': failedWith(
    'exit code 1',
    '[ERROR] [MY-010268] [Server] Another process with pid 7 is using unix socket file.',
    '[ERROR] [MY-010119] [Server] Aborting',
  ),
  'knows-not-an-option': failedWith(
    'exit code 7',
    "[ERROR] [MY-000067] [Server] unknown variable 'innodb-x=1'.",
  ),
  'reads-an-i-o-error': failedWith(
    'exit code 2',
    '[ERROR] [MY-012592] [InnoDB] Operating system error number 5 in a file operation.',
    '[ERROR] [MY-013183] [InnoDB] Assertion failure: os0file.cc:4:ib::fatal triggered thread 1',
    'InnoDB: corruption in the InnoDB tablespace. Please refer to',
  ),
  'is-terminated': failedWith('SIGTERM'),
  'is-killed': failedWith('exit code 137', '[ERROR] [MY-010119] [Server] Aborting'),
  'ends-with-unseen-words': failedWith('exit code 1', '[ERROR] [MY-099999] [InnoDB] unseen words'),
};
const nothingOfIt = { ledgerComplete: false, ledgerRows: 0, balances: {}, indexCounts: [] };
const withoutRows = (run: HeldRun): void => {
  const rows = run.segments.get('rows-second');
  if (rows !== undefined) rows.records = [];
};

const refusals: Readonly<Record<string, string>> = {
  'out-of-memory': 'ER_OUTOFMEMORY: Out of memory; restart server and try again',
  'lock-wait': 'ER_LOCK_WAIT_TIMEOUT: Lock wait timeout exceeded; try restarting transaction',
  interrupted: 'ER_QUERY_INTERRUPTED: Query execution was interrupted',
  'too-many-connections': 'ER_CON_COUNT_ERROR: Too many connections',
  'connection-lost': 'Connection lost: The server closed the connection.',
  'full-temporary-disk': "ER_NOT_KEYFILE: Incorrect key file for table '/tmp/#sql1_7_0'",
};

const ends: readonly (readonly [string, number, string])[] = [
  ['cannot-lock', 1, 'Error: Unable to lock file: ledger.ibd'],
  ['killed', 137, 'Killed'],
  ['terminated', 143, ''],
  ['asked-with-an-unknown-option', 1, "innochecksum: [ERROR] unknown option '--x'."],
  ['without-its-file', 1, 'Error: ledger.ibd cannot be found'],
];
const withEnd = (command: string, exitCode: number, output: string): CommandEvidence => ({
  ...{ command, exitCode, output, durationMs: 5 },
});

/** Nothing is damaged, and a tool has not looked. */
const couldNotLook: readonly (readonly [string, Alteration])[] = [
  ...Object.entries(failedStarts).flatMap(([name, failed]) => [
    [
      `a-server-${name}`,
      lacking(({ starts }) => ({ starts: [failed, ...starts.slice(1)] })),
    ] as const,
    [
      `the-only-server-${name}`,
      both(
        lacking(() => ({ ...nothingOfIt, starts: [failed] })),
        withoutRows,
      ),
    ] as const,
  ]),
  ...Object.entries(refusals).flatMap(([name, error]) => [
    [
      `a-statement-meets-${name}`,
      lacking(() => ({ sqlFailures: [{ what: 'balances', error }] })),
    ] as const,
    [`the-login-meets-${name}`, lacking(() => ({ login: { refused: error } }))] as const,
    [
      `check-table-meets-${name}`,
      lacking(({ tables = [] }) => ({
        tables: tables.map((each) => ({ ...each, check: `error: ${error}` })),
      })),
    ] as const,
  ]),
  ...ends.map(
    ([name, exitCode, output]) =>
      [
        `innochecksum-${name}`,
        lacking(({ innochecksum = [] }) => ({
          innochecksum: innochecksum.map(({ command }) => withEnd(command, exitCode, output)),
        })),
      ] as const,
  ),
  [
    'no-table-has-a-checksum-and-no-reason',
    lacking(({ tables = [] }) => ({
      tables: tables.map((each) => ({ ...each, checksum: 'NULL', checksumAfterRestart: 'NULL' })),
    })),
  ],
  ...[16, 32, 128, 134, 137, 143].map(
    (exitCode) =>
      [
        `e2fsck-ends-with-${exitCode}`,
        lacking(() => ({ fsck: withEnd('e2fsck -fn copy', exitCode, '') })),
      ] as const,
  ),
  [
    'xfs-repair-has-no-memory',
    lacking(() => ({ fsck: withEnd('xfs_repair -n -f copy', 1, 'fatal error -- out of memory') })),
  ],
  ...[
    'mount: cannot allocate memory (ENOMEM)',
    'mount: failed to setup loop device for copy.',
    'mount: unseen words',
  ].map(
    (mountError, n) =>
      [
        `mount-refuses-${n}`,
        both(
          lacking(() => ({ ...nothingOfIt, mounted: false, mountError, starts: [] })),
          withoutRows,
        ),
      ] as const,
  ),
];

type Named = readonly (readonly [string, Alteration])[];

const rowsOf =
  (label: ImageLabel, become: (rows: readonly LedgerRow[]) => readonly LedgerRow[]): Alteration =>
  (run) => {
    const segment = run.segments.get(`rows-${label}`);
    if (segment === undefined) return;
    const rows = segment.records.flatMap((record) => (record.type === 'row' ? [record.row] : []));
    segment.records = become(rows).map((row) => ({ type: 'row', image: label, row }));
  };
/** Another number of rows, and the audit counts as many. */
const countedRows = (more: number, become: (rows: readonly LedgerRow[]) => readonly LedgerRow[]) =>
  both(
    rowsOf('second', become),
    lacking(({ ledgerRows }) => ({ ledgerRows: ledgerRows + more })),
  );
const rowAt = (n: number, changed: (row: LedgerRow) => Partial<LedgerRow>): Alteration =>
  rowsOf('second', (rows) => rows.map((row, at) => (at === n ? { ...row, ...changed(row) } : row)));
const inBinlog = (become: (found: BinlogFound) => Partial<BinlogFound>): Alteration =>
  lacking(({ binlog }) => ({ ...(binlog && { binlog: { ...binlog, ...become(binlog) } }) }));
const inIndex = (n: number, become: (count: IndexCount) => object): Alteration =>
  lacking(({ indexCounts }) => ({
    indexCounts: indexCounts.map((each, at) => (at === n ? { ...each, ...become(each) } : each)),
  }));
/** The first session's first range of operations. */
const withRange = (become: (range: readonly [number, number]) => readonly [number, number]) =>
  inBinlog(({ rows }) => {
    const [key = ''] = Object.keys(rows);
    const [first = [0, 0] as const, ...rest] = rows[key] ?? [];
    return { rows: { ...rows, [key]: [become(first), ...rest] } };
  });

/** One of several parts: "some" were there before. */
const oneOfMany: Named = [
  ...[0, 1, 2, 3].flatMap(
    (n): Named => [
      [
        `index-${n}-not-compared`,
        lacking(({ indexCounts }) => ({ indexCounts: indexCounts.toSpliced(n, 1) })),
      ],
      [`index-${n}-without-its-values`, inIndex(n, () => ({ valuesAgree: undefined }))],
      [
        `index-${n}-of-another-table-length`,
        inIndex(n, ({ byPrimary }) => ({ byPrimary: byPrimary + 1 })),
      ],
      [
        `index-${n}-shorter-than-check-table-finds-it`,
        inIndex(n, ({ byIndex }) => ({ byIndex: byIndex - 1 })),
      ],
      [
        `index-${n}-counted-anew`,
        inIndex(n, ({ byIndex }) => ({ byIndex: byIndex - 1, byPrimary: byIndex - 1 })),
      ],
    ],
  ),
  ...Array.from({ length: 8 }, (_, n): Named[number] => [
    `tablespace-${n}-without-innochecksum`,
    lacking(({ innochecksum = [] }) => ({ innochecksum: innochecksum.toSpliced(n, 1) })),
  ]),
  [
    'a-tablespace-of-the-server-never-checked',
    lacking(
      ({ innochecksum = [] }) => ({
        innochecksum: innochecksum.filter(({ command }) => !command.endsWith('undo_002')),
      }),
      ...(['steady', 'first', 'second'] as const),
    ),
  ],
  ...(['check', 'checksum', 'checksumAfterRestart'] as const).flatMap((key) =>
    ['ledger', 'account', 'document'].map((name): Named[number] => [
      `${name}-without-${key}`,
      lacking(({ tables = [] }) => ({
        tables: tables.map((each) =>
          each.table.endsWith(`.${name}`) ? { ...each, [key]: undefined } : each,
        ),
      })),
    ]),
  ),
  ...[3, 20, 41].map((n): Named[number] => [
    `table-${n}-not-checked`,
    lacking(({ tables = [] }) => ({ tables: tables.toSpliced(n, 1) })),
  ]),
  [
    'a-system-table-of-the-first-image-not-checked',
    lacking(({ tables = [] }) => ({ tables: tables.toSpliced(9, 1) }), 'steady'),
  ],
];

/** Two answers of one audit that cannot both be right, and neither is damage. */
const contradictions: Named = [
  ['a-row-gone-that-the-counts-have', countedRows(-1, (rows) => rows.toSpliced(70, 1))],
  [
    'a-row-doubled-that-the-counts-have-not',
    countedRows(1, (rows) => rows.toSpliced(70, 0, ...rows.slice(70, 71))),
  ],
  ['an-id-twice', rowAt(70, ({ id }) => ({ id: id - 1 }))],
  [
    'two-ids-swapped',
    both(
      rowAt(70, ({ id }) => ({ id: id + 1 })),
      rowAt(71, ({ id }) => ({ id: id - 1 })),
    ),
  ],
  ['a-hash-that-the-binary-log-has', rowAt(70, () => ({ hashFits: false }))],
  ['a-link-that-the-binary-log-has', rowAt(70, () => ({ linkFits: false }))],
  ['an-amount-that-the-binary-log-refutes', rowAt(70, ({ amount }) => ({ amount: amount + 1 }))],
  [
    'an-account-gone-that-the-index-has',
    lacking(({ balances }) => {
      const { 1: _first, ...rest } = balances;
      return { balances: rest };
    }),
  ],
  [
    'a-transaction-more-than-gtids',
    inBinlog(({ transactions }) => ({ transactions: transactions + 1 })),
  ],
  [
    'gtids-that-the-server-does-not-know',
    inBinlog(({ executed }) => ({ executed: executed.replace(/\d+$/, '9') })),
  ],
  [
    'gtids-of-another-server',
    inBinlog(({ gtids }) => ({
      gtids: gtids.replace('-', '0-'),
      executed: gtids.replace('-', '0-'),
    })),
  ],
  ['no-gtids', inBinlog(() => ({ gtids: '', executed: '' }))],
  ['a-binary-log-without-files', inBinlog(() => ({ files: [] }))],
  ['an-operation-gone-from-the-binary-log', withRange(([from, to]) => [from, to - 1])],
  ['an-operation-more-in-the-binary-log', withRange(([from, to]) => [from, to + 1])],
  [
    'a-server-uuid-that-its-gtids-refute',
    lacking(() => ({ serverUuid: '00000000-0000-4000-8000-000000000002' })),
  ],
  [
    'a-file-system-that-its-opening-refutes',
    lacking(() => ({ filesystemUuid: '00000000-0000-4000-8000-000000000001' })),
  ],
  ['a-server-on-an-empty-directory', lacking(() => ({ dataDirectoryEmpty: true }))],
];

/** Records of another run: they fit no row of any copy, not even from before the fault. */
const foreignRecords: Named = [
  [
    'seed-of-another-run',
    change(ofType('run'), (record: RunRecord) => ({ ...record, seed: `${record.seed}-x` })),
  ],
  ...(['inside', 'outside'] as const).map((client): Named[number] => [
    `journal-of-the-${client}-client-of-another-run`,
    (run) => {
      for (const segment of run.segments.values()) {
        segment.records = segment.records.map((record) =>
          'client' in record && record.client === client && 'session' in record
            ? { ...record, session: (record.session ?? 0) + 500 }
            : record,
        );
      }
    },
  ]),
];

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
  ...couldNotLook,
  ...oneOfMany,
  ...contradictions,
  ...foreignRecords,
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
