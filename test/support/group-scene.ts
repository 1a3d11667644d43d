/** A group's run that never was, second by second: the primary `a` is cut off at 10 s. */
import type { LedgerRow } from '../../lib/history/evidence.ts';
import type { RunRecord, SessionRecord, SmallRecord } from '../../lib/history/records.ts';
import type { History, Operation } from '../../lib/history/reader.ts';
import { Chain, type ClientSide } from '../../lib/history/workload.ts';
import { runRecord, see } from './run-record.ts';

export interface Session {
  readonly client: ClientSide;
  readonly session: number;
  readonly node: string;
  /** When each operation was acknowledged, ms; undefined: its outcome is unknown. */
  readonly acks: readonly (number | undefined)[];
}

export const oldSessions: readonly Session[] = [
  { client: 'inside', session: 0, node: 'a', acks: [8000, 9000, undefined] },
  { client: 'outside', session: 0, node: 'a', acks: [8500, 9500] },
];
export const successor: Session = {
  client: 'outside',
  session: 1,
  node: 'b',
  acks: [22_000, 23_000],
};

const ids = (of: Session): { client: ClientSide; connection: number; session: number } => ({
  client: of.client,
  connection: 0,
  session: of.session,
});

const opsOf = (of: Session): Operation[] =>
  of.acks.map((endedAtMs, seq) => ({
    ...ids(of),
    seq,
    kind: 'append',
    sentAtMs: endedAtMs ?? 15_000,
    outcome: endedAtMs === undefined ? 'info' : 'ok',
    endedAtMs: endedAtMs ?? 20_000,
    server: { node: of.node, podUid: of.node, startedAtS: 0 },
  }));

const sessionOf = (of: Session): SessionRecord => ({
  type: 'session',
  t: 0,
  ...ids(of),
  server: { node: of.node, podUid: of.node, startedAtS: 0 },
});

/** The rows of everything that was acknowledged by then. */
export function rowsAt(sessions: readonly Session[], atMs: number): LedgerRow[] {
  return sessions.flatMap((of) => {
    const chain = new Chain('s', ids(of));
    return of.acks.flatMap((ackMs) => {
      const { hash: _, previousHash: __, ...entry } = chain.next();
      if (ackMs === undefined || ackMs > atMs) return [];
      return [{ id: 0, ...entry, hashFits: true, linkFits: true }];
    });
  });
}

const group = (name: string, t: number, node: string, data: Record<string, unknown>): SmallRecord =>
  ({ type: 'observation', source: 'group', name, t, node, data }) as SmallRecord;
export const viewed = (
  t: number,
  node: string,
  members: string,
  superReadOnly = false,
): SmallRecord =>
  group('member-view', t, node, {
    ...{ side: 'inside', node, superReadOnly, offlineMode: false },
    members: members.split(' ').map((word) => {
      const [node, state, role] = word.split(':');
      return { node, state, role };
    }),
  });
export const read = (t: number, side: ClientSide, node: string, heads: object): SmallRecord =>
  group('read', t, node, { side, beganAtMs: t, heads });
export const ledger = (
  t: number,
  image: string | undefined,
  node: string,
  checksum = 'x',
  gtids = 'u:1-9',
): SmallRecord =>
  group('ledger-read', t, node, {
    ...(image === undefined ? {} : { image }),
    ...{ takenAtMs: t, rows: 1, checksums: [checksum], gtids, beyond: '' },
  });
const fault = (t: number, step: 'begin' | 'done' | 'heal' | 'healed'): SmallRecord => ({
  ...{ type: 'action', actor: 'fault', name: 'network-partition', step, t, node: 'a' },
});
const certificate = (t: number, moment: 'before' | 'during' | 'after'): SmallRecord => ({
  ...{ type: 'certificate', t, fault: 'network-partition', moment },
  ...{ claim: 'as it should be', holds: true, evidence: '' },
});

interface Scene {
  readonly inRun?: Partial<RunRecord>;
  readonly sessions?: readonly Session[];
  readonly secondRows?: readonly LedgerRow[];
  /** An image of whose rows the history has none. */
  readonly unread?: 'first' | 'second';
  /** Before the heal, after another member is the primary. */
  readonly duringRecords?: readonly SmallRecord[];
  /** After the heal. */
  readonly extraRecords?: readonly SmallRecord[];
  readonly lastRecords?: readonly SmallRecord[];
}

export function historyOf(scene: Scene): History {
  const { sessions = [...oldSessions, successor], lastRecords, inRun } = scene;
  const small: SmallRecord[] = [
    { ...runRecord({ fault: { kind: 'network-partition' } }), ...inRun },
    group('settings', 0, '', {}),
    ...sessions.map(sessionOf),
    see(1000, 'node-ready', 'a', { status: 'True' }),
    read(9000, 'inside', 'a', { '0/0': 0 }),
    certificate(9900, 'before'),
    fault(10_000, 'begin'),
    fault(10_100, 'done'),
    certificate(10_200, 'during'),
    viewed(15_000, 'b', 'a:UNREACHABLE:PRIMARY b:ONLINE:SECONDARY c:ONLINE:SECONDARY'),
    viewed(15_500, 'a', 'a:ONLINE:PRIMARY b:UNREACHABLE:SECONDARY c:UNREACHABLE:SECONDARY'),
    viewed(20_000, 'b', 'b:ONLINE:PRIMARY c:ONLINE:SECONDARY'),
    group('routed', 20_500, 'b', {}),
    ...(scene.duringRecords ?? []),
    read(21_000, 'inside', 'a', { '0/0': 1 }),
    read(24_000, 'inside', 'a', { '0/0': 1 }),
    read(24_000, 'outside', 'b', { '0/0': 1, '0/1': 1 }),
    ledger(30_000, 'first', 'b'),
    { type: 'phase', t: 30_990, phase: 'heal' },
    fault(31_000, 'heal'),
    fault(31_100, 'healed'),
    certificate(31_200, 'after'),
    ...(scene.extraRecords ?? []),
    viewed(40_000, 'a', 'a:ONLINE:SECONDARY b:ONLINE:PRIMARY c:ONLINE:SECONDARY'),
    { type: 'action', actor: 'runner', name: 'converge', step: 'done', t: 40_000 },
    { type: 'phase', phase: 'audit', t: 45_000 },
    ...(lastRecords ?? [
      ledger(46_000, 'second', 'b'),
      ledger(46_500, undefined, 'a'),
      ledger(46_500, undefined, 'c'),
    ]),
  ];
  const ops = sessions.flatMap(opsOf);
  const rowsOf = (image: string): readonly LedgerRow[] =>
    image === 'first' ? rowsAt(sessions, 30_000) : (scene.secondRows ?? rowsAt(sessions, Infinity));
  const counted = small.map((record) =>
    record.type === 'observation' && record.name === 'ledger-read' && record.data.image
      ? { ...record, data: { ...record.data, rows: rowsOf(record.data.image).length } }
      : record,
  );
  return {
    cuts: [],
    seals: new Map(),
    sha256: undefined,
    files: {},
    *records() {
      yield* counted;
    },
    *answers() {
      yield* sessions.map(sessionOf);
      for (const { client, connection, session, seq, outcome, endedAtMs = 0 } of ops.toSorted(
        (x, y) => (x.endedAtMs ?? 0) - (y.endedAtMs ?? 0),
      )) {
        yield { type: 'outcome', t: endedAtMs, client, connection, session, seq, outcome };
      }
    },
    *smallRecords() {
      yield* counted;
    },
    *ops() {
      yield* ops;
    },
    visitOps: (visit) => ops.forEach(visit),
    *rows(image) {
      if (image !== scene.unread) yield* rowsOf(image);
    },
    writes: () => undefined,
  };
}
