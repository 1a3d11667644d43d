/** What is asked: rows (a protocol and a way to revoke) by cells (one factor that differs from the base case). */

import { networked, transportOf } from '../../lib/scenario/index.ts';

export interface Cell {
  readonly what: string;
  /** What becomes of the first node before its path is revoked. */
  readonly victim: 'living' | 'cut-off' | 'frozen';
  /** How long it stays so. 0: it lives. */
  readonly faultS: number;
  /** When the path is revoked, beside the second attach. */
  readonly revoke: 'before' | 'at' | 'after';
  /** Idle: it does not write from the fault on, until 5 s after the heal. */
  readonly load: 'writing' | 'idle';
  /** After the second node has written. `give-back`: that leaves, and the revocation is undone. */
  readonly after: 'heal' | 'give-back' | 'reboot';
  /** Runs on request only. */
  readonly long?: true;
}

const base = {
  what: 'storage cut for 60 s, revoked before the second attach, both write',
  ...{ victim: 'cut-off', faultS: 60, revoke: 'before', load: 'writing', after: 'heal' },
} as const satisfies Cell;
const living = { ...base, victim: 'living', faultS: 0 } as const;

export const cells = {
  base,
  living: { ...living, what: 'the node lives and writes' },
  'cut-10': { ...base, what: 'storage cut for 10 s', faultS: 10 },
  'cut-600': { ...base, what: 'storage cut for 10 min', faultS: 600, long: true },
  frozen: { ...base, what: 'node and initiator paused for 60 s', victim: 'frozen' },
  'revoked-at': { ...base, what: 'revoked while the second node attaches', revoke: 'at' },
  'revoked-after': { ...base, what: 'revoked after the second node wrote', revoke: 'after' },
  idle: { ...base, what: 'the node writes nothing until 5 s after the heal', load: 'idle' },
  'give-back': {
    ...{ ...living, after: 'give-back' },
    what: 'the node lives; once the second has left, the revocation is undone',
  },
  reboot: {
    ...{ ...living, after: 'reboot' },
    what: 'its initiator is killed and connects again, with nothing undone',
  },
} as const satisfies Readonly<Record<string, Cell>>;

export type CellName = keyof typeof cells;
export const cellNames = Object.keys(cells) as CellName[];

export interface Row {
  readonly transport: string;
  /** `none`: nobody revokes. */
  readonly revocation: string;
}

export const rows: readonly Row[] = networked.flatMap((transport) =>
  ['none', ...Object.keys(transportOf[transport].revocations)].map((revocation) => ({
    ...{ transport, revocation },
  })),
);

export const nameOf = ({ transport, revocation }: Row): string => `${transport}/${revocation}`;

/** Nothing is undone, and no time differs, where nothing is revoked. */
const needsRevocation: readonly CellName[] = ['revoked-at', 'revoked-after', 'give-back', 'reboot'];

/** Those that contradict what a document says are tried more often. */
const contradicting: readonly string[] = [
  ...['iscsi/acl living', 'iscsi/acl base', 'iscsi/acl cut-10', 'rbd/none living'],
];
export const triesOf = (row: Row, cell: CellName): number =>
  contradicting.includes(`${nameOf(row)} ${cell}`) ? 8 : 3;

/** The array never undoes a cut of its own, and what is only closed leaves nothing to undo. */
const forGood = ['cut', 'connection', 'session', 'lock-rm-only'];

export const cellsOf = ({ transport, revocation }: Row): CellName[] =>
  cellNames.filter((cell) => {
    // A cut of RBD is an entry on Ceph’s blocklist.
    const isForGood = forGood.includes(revocation) && `${transport}/${revocation}` !== 'rbd/cut';
    if (cell === 'give-back' && isForGood) return false;
    return revocation !== 'none' || !needsRevocation.includes(cell);
  });

export interface Planned {
  readonly row: Row;
  readonly cell: CellName;
  /** From 1. */
  readonly repeat: number;
}

export const idOf = ({ row, cell, repeat }: Planned): string => `${nameOf(row)} ${cell} ${repeat}`;

interface Wanted {
  readonly rows: readonly Row[];
  /** Also the long cells, once a row. */
  readonly long: boolean;
  /** Trials that are there already, by id. */
  readonly done: ReadonlySet<string>;
}

/**
 * One of each first: what is interrupted has asked everything. Of one protocol after the other, since a lab has
 * one server.
 */
export function planOf({ rows, long, done }: Wanted): Planned[] {
  const all = rows.flatMap((row) =>
    cellsOf(row).flatMap((cell): Planned[] => {
      const { long: isLong }: Cell = cells[cell];
      const count = isLong === true ? Number(long) : triesOf(row, cell);
      return Array.from({ length: count }, (_, index) => ({ row, cell, repeat: index + 1 }));
    }),
  );
  const transports = [...new Set(rows.map(({ transport }) => transport))];
  return all
    .filter((planned) => !done.has(idOf(planned)))
    .toSorted(
      (a, b) =>
        transports.indexOf(a.row.transport) - transports.indexOf(b.row.transport) ||
        a.repeat - b.repeat ||
        cells[b.cell].faultS - cells[a.cell].faultS,
    );
}

/** How long a trial takes, about. */
export const durationS = (cell: CellName): number => cells[cell].faultS + 45;

/** What nobody has run, a line each: of the table, or because it makes no sense. */
export const notRun = (rows: readonly Row[], done: ReadonlySet<string>): string[] =>
  rows.flatMap((row) =>
    cellsOf(row).flatMap((cell) => {
      const count = triesOf(row, cell);
      const ran = Array.from({ length: count }, (_, index) => index + 1).filter((repeat) =>
        done.has(idOf({ row, cell, repeat })),
      ).length;
      return ran === 0 ? [`${nameOf(row)} ${cell}`] : [];
    }),
  );
