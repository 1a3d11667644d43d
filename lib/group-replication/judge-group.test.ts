/** A group's run that never was, second by second: the primary `a` is cut off at 10 s. */
import { expect, test } from 'vitest';
import { runRecord } from '../../test/support/run-record.ts';
import type { LedgerRow } from '../checkers/evidence.ts';
import type { SessionRecord } from '../history/client-records.ts';
import type { HistoryVersion } from '../history/events.ts';
import type { History, Operation, SmallRecord } from '../history/reader.ts';
import { Chain } from '../workload/ledger.ts';
import type { ClientSide } from '../workload/sql.ts';
import { judgeGroup } from './judge-group.ts';
import { isGroupRun } from './story.ts';
import { groupVerdictSchema } from './verdict.ts';
import { groupSummary } from './write.ts';

interface Session {
  readonly client: ClientSide;
  readonly session: number;
  readonly node: string;
  /** When each operation was acknowledged, ms; undefined: its outcome is unknown. */
  readonly acks: readonly (number | undefined)[];
}

const oldSessions: readonly Session[] = [
  { client: 'inside', session: 0, node: 'a', acks: [8000, 9000, undefined] },
  { client: 'outside', session: 0, node: 'a', acks: [8500, 9500] },
];
const successor: Session = { client: 'outside', session: 1, node: 'b', acks: [22_000, 23_000] };

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
function rowsAt(sessions: readonly Session[], atMs: number): LedgerRow[] {
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
  ({ type: 'observation', source: 'group', name, t, node, data }) as const;
const viewed = (t: number, node: string, members: string): SmallRecord =>
  group('member-view', t, node, {
    ...{ side: 'inside', node, superReadOnly: false, offlineMode: false },
    members: members.split(' ').map((word) => {
      const [node, state, role] = word.split(':');
      return { node, state, role };
    }),
  });
const read = (t: number, side: ClientSide, node: string, heads: object): SmallRecord =>
  group('read', t, node, { side, beganAtMs: t, heads });
const ledger = (t: number, image: string | undefined, node: string, checksum = 'x'): SmallRecord =>
  group('ledger-read', t, node, {
    ...(image === undefined ? {} : { image }),
    ...{ takenAtMs: t, rows: 1, checksums: [checksum], beyond: '' },
  });
const fault = (t: number, step: 'begin' | 'done' | 'heal' | 'healed'): SmallRecord => ({
  ...{ type: 'action', actor: 'fault', name: 'network-partition', step, t, node: 'a' },
});
const certificate = (t: number, moment: 'before' | 'during' | 'after'): SmallRecord => ({
  ...{ type: 'certificate', t, fault: 'network-partition', moment },
  ...{ claim: 'as it should be', holds: true, evidence: '' },
});

interface Scene {
  readonly schemaVersion?: HistoryVersion;
  readonly sessions?: readonly Session[];
  readonly secondRows?: readonly LedgerRow[];
  /** After the heal. */
  readonly extraRecords?: readonly SmallRecord[];
  readonly lastRecords?: readonly SmallRecord[];
}

function historyOf(scene: Scene): History {
  const { sessions = [...oldSessions, successor], lastRecords, schemaVersion = 1 } = scene;
  const small: SmallRecord[] = [
    { ...runRecord({ fault: 'network-partition' }), schemaVersion },
    group('settings', 0, '', {}),
    ...sessions.map(sessionOf),
    read(9000, 'inside', 'a', { '0/0': 0 }),
    certificate(9900, 'before'),
    fault(10_000, 'begin'),
    fault(10_100, 'done'),
    certificate(10_200, 'during'),
    viewed(15_000, 'b', 'a:UNREACHABLE:PRIMARY b:ONLINE:SECONDARY c:ONLINE:SECONDARY'),
    viewed(15_500, 'a', 'a:ONLINE:PRIMARY b:UNREACHABLE:SECONDARY c:UNREACHABLE:SECONDARY'),
    viewed(20_000, 'b', 'b:ONLINE:PRIMARY c:ONLINE:SECONDARY'),
    group('routed', 20_500, 'b', {}),
    read(21_000, 'inside', 'a', { '0/0': 1 }),
    read(24_000, 'inside', 'a', { '0/0': 1 }),
    read(24_000, 'outside', 'b', { '0/0': 1, '0/1': 1 }),
    ledger(30_000, 'first', 'b'),
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
  return {
    cuts: [],
    seals: new Map(),
    files: {},
    *records() {
      yield* small;
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
      yield* small;
    },
    *ops() {
      yield* ops;
    },
    visitOps: (visit) => ops.forEach(visit),
    *rows(image) {
      yield* image === 'first'
        ? rowsAt(sessions, 30_000)
        : (scene.secondRows ?? rowsAt(sessions, Infinity));
    },
    writes: () => undefined,
  };
}

test('a group that keeps every commit is safe, and its phases are told', () => {
  const verdict = judgeGroup(historyOf({}));
  expect(groupVerdictSchema.parse(verdict)).toEqual(verdict);
  expect(verdict.incompleteBecause).toEqual([]);
  expect(verdict).toMatchObject({ verdict: 'safe', asExpected: true, acked: 6, lost: 0 });
  expect(verdict.availability).toEqual({ downtimeMs: 22_000, recovered: true, rejoined: true });
  expect(verdict.phases).toMatchObject({
    ...{ suspected: 5, victimAlone: 5.5, expelled: 10, newPrimary: 10, routed: 10.5 },
    ...{ firstCommit: 12, healed: 21.1, rejoined: 30, victimLeft: null },
  });
  expect(verdict.members.map(({ node, agrees }) => [node, agrees])).toEqual([
    ['b', true],
    ['a', true],
    ['c', true],
  ]);
});

test('its summary has every phase in its order, and its history is told from others', () => {
  const history = historyOf({});
  const rows = groupSummary(judgeGroup(history))
    .split('\n')
    .filter((line) => /^\| \d/.test(line));
  expect(rows.map((row) => Number(row.split('|')[1]))).toEqual([
    5, 5.5, 10, 10, 10.5, 12, 21.1, 30,
  ]);
  expect(isGroupRun(history.smallRecords())).toBe(true);
  expect(isGroupRun([runRecord()])).toBe(false);
});

test('reads at the cut-off primary are stale from the first commit elsewhere on', () => {
  const { victim, successor, findings } = judgeGroup(historyOf({}));
  expect(victim).toMatchObject({ acked: 0, unknown: 1, readsAnswered: 2, staleReads: 1 });
  expect(victim.stalestMs).toBe(2000);
  expect(successor).toEqual({ node: 'b', readsAnswered: 1, staleReads: 0 });
  expect(findings.map(({ code }) => code)).toEqual(['STALE_READS']);
});

test('a healed primary that does not know yet that it was replaced claims to be one', () => {
  const whole = 'a:ONLINE:PRIMARY b:ONLINE:SECONDARY c:ONLINE:SECONDARY';
  const extraRecords = [viewed(32_000, 'a', whole), viewed(35_000, 'a', 'a:ERROR:')];
  const { victim, phases, findings } = judgeGroup(historyOf({ extraRecords }));
  expect(victim.claimedMs).toBe(3000);
  expect(phases).toMatchObject({ victimLeft: 25, rejoined: 30 });
  expect(findings.map(({ code }) => code)).toContain('FALSE_PRIMARY');
});

test('an acknowledged commit that the group has not is lost', () => {
  const sessions = [...oldSessions, successor];
  const secondRows = rowsAt(sessions, Infinity).filter(({ client }) => client !== 'inside');
  const verdict = judgeGroup(historyOf({ secondRows }));
  expect(verdict).toMatchObject({ verdict: 'lost', asExpected: false, lost: 2 });
  expect(verdict.loss?.beforeFault).toEqual({ acked: 4, lost: 2 });
  expect(verdict.readings.map(({ lost }) => lost)).toEqual([0, 2]);
});

test('a cut-off primary that goes on acknowledging is an exposure', () => {
  const zombie = { ...oldSessions[0], acks: [8000, 9000, 25_000] } as Session;
  const verdict = judgeGroup(historyOf({ sessions: [zombie, ...oldSessions.slice(1), successor] }));
  expect(verdict.victim).toMatchObject({ acked: 1, lastAckS: 14.9 });
  expect(verdict.findings.map(({ code }) => code)).toContain('BOTH_WROTE');
  expect(verdict.safety).toBe('exposed');
});

test('members in good order that differ are corrupt; a missing reading is inconclusive', () => {
  const differ = [ledger(46_000, 'second', 'b'), ledger(46_500, undefined, 'c', 'y')];
  expect(judgeGroup(historyOf({ lastRecords: differ })).verdict).toBe('corrupt');
  const verdict = judgeGroup(historyOf({ lastRecords: [] }));
  expect(verdict.verdict).toBe('inconclusive');
  expect(verdict.incompleteBecause).toEqual(['the second reading of the ledger is missing']);
});

test('a history of today says what clients were to do, and that its journals are whole', () => {
  const { verdict, incompleteBecause } = judgeGroup(historyOf({ schemaVersion: 3 }));
  expect(verdict).toBe('inconclusive');
  expect(incompleteBecause).toEqual([
    'the history does not say what the clients were to do',
    'the history does not say what the clients were to do',
    'history segment run ends before the run listed what else there is',
  ]);
});
