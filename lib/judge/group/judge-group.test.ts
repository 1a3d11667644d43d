/** The verdict of a group's run, by what its records say. */
import { expect, test } from 'vitest';
import {
  historyOf,
  ledger,
  oldSessions,
  read,
  rowsAt,
  successor,
  viewed,
  type Session,
} from '../../../test/support/group-scene.ts';
import { runRecord } from '../../../test/support/run-record.ts';
import { type Checker, damage } from '../checkers/checker.ts';
import type { SmallRecord } from '../../history/records.ts';
import { judgeGroup } from './judge-group.ts';
import { renderGroupHtml, groupSummary } from '../../report/group.ts';
import { isGroupRun } from './story.ts';
import { groupVerdictSchema } from './verdict.ts';
import { mysql } from '../../mysql/database.ts';

test('a group that keeps every commit is safe, and its phases are told', () => {
  const verdict = judgeGroup(historyOf({}), { database: mysql });
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
  const rows = groupSummary(judgeGroup(history, { database: mysql }))
    .split('\n')
    .filter((line) => /^\| \d/.test(line));
  expect(rows.map((row) => Number(row.split('|')[1]))).toEqual([
    5, 5.5, 10, 10, 10.5, 12, 21.1, 30,
  ]);
  expect(isGroupRun(history.smallRecords())).toBe(true);
  expect(isGroupRun([runRecord()])).toBe(false);
});

test('reads at the cut-off primary are stale from the first commit elsewhere on', () => {
  const { victim, successor, findings } = judgeGroup(historyOf({}), { database: mysql });
  expect(victim).toMatchObject({ acked: 0, unknown: 1, readsAnswered: 2, staleReads: 1 });
  expect(victim.stalestMs).toBe(2000);
  expect(successor).toEqual({ node: 'b', readsAnswered: 1, staleReads: 0 });
  expect(findings.map(({ code }) => code)).toEqual(['STALE_READS']);
});

test('a healed primary that does not know yet that it was replaced claims to be one', () => {
  const whole = 'a:ONLINE:PRIMARY b:ONLINE:SECONDARY c:ONLINE:SECONDARY';
  const extraRecords = [viewed(32_000, 'a', whole), viewed(35_000, 'a', 'a:ERROR:')];
  const { victim, phases, findings } = judgeGroup(historyOf({ extraRecords }), { database: mysql });
  expect(victim.claimedMs).toBe(3000);
  expect(phases).toMatchObject({ victimLeft: 25, rejoined: 30 });
  expect(findings.map(({ code }) => code)).toContain('FALSE_PRIMARY');
});

test('an acknowledged commit that the group has not is lost', () => {
  const sessions = [...oldSessions, successor];
  const secondRows = rowsAt(sessions, Infinity).filter(({ client }) => client !== 'inside');
  const verdict = judgeGroup(historyOf({ secondRows }), { database: mysql });
  expect(verdict).toMatchObject({ verdict: 'lost', asExpected: false, lost: 2 });
  expect(verdict.loss?.beforeFault).toEqual({ acked: 4, lost: 2 });
  expect(verdict.readings.map(({ lost }) => lost)).toEqual([0, 2]);
});

test('a cut-off primary that goes on acknowledging is an exposure', () => {
  const zombie = { ...oldSessions[0], acks: [8000, 9000, 25_000] } as Session;
  const verdict = judgeGroup(
    historyOf({ sessions: [zombie, ...oldSessions.slice(1), successor] }),
    { database: mysql },
  );
  expect(verdict.victim).toMatchObject({ acked: 1, lastAckS: 14.9 });
  expect(verdict.findings.map(({ code }) => code)).toContain('BOTH_WROTE');
  expect(verdict.safety).toBe('exposed');
});

test('members in good order that differ are corrupt; a missing reading is inconclusive', () => {
  const differ = [ledger(46_000, 'second', 'b'), ledger(46_500, undefined, 'c', 'y')];
  expect(judgeGroup(historyOf({ lastRecords: differ }), { database: mysql }).verdict).toBe(
    'corrupt',
  );
  const verdict = judgeGroup(historyOf({ lastRecords: [] }), { database: mysql });
  expect(verdict.verdict).toBe('inconclusive');
  expect(verdict.incompleteBecause).toContainEqual(
    'which copy it is (second images): 1 by the scenario, 0 by the audit at 1.0 s',
  );
});

const codesIn = (scene: Parameters<typeof historyOf>[0]) => {
  const { verdict, findings, reasons } = judgeGroup(historyOf(scene), { database: mysql });
  return {
    verdict,
    findings: findings.map(({ code }) => code).filter((code) => !code.startsWith('STALE_READS')),
    facts: [...new Set(reasons.map(({ code, fields }) => fields['fact'] ?? code))],
  };
};

test('a group that has a member which was not compared is inconclusive', () => {
  const primary = ledger(46_000, 'second', 'b');
  const unread = [primary, ledger(46_500, undefined, 'a')];
  const undecided = { verdict: 'inconclusive', findings: [], facts: ['compared'] };
  expect(codesIn({ lastRecords: unread })).toEqual(undecided);
  const behind = ledger(46_600, undefined, 'c', 'y', 'u:1-8');
  expect(codesIn({ lastRecords: [...unread, behind] })).toEqual(undecided);
  const gone = [viewed(41_000, 'b', 'a:ONLINE:SECONDARY b:ONLINE:PRIMARY')];
  const own = [viewed(41_000, 'a', 'a:ONLINE:SECONDARY b:ONLINE:PRIMARY')];
  const lastRecords = [...gone, ...own, ...unread];
  expect(codesIn({ lastRecords })).toEqual({ verdict: 'safe', findings: [], facts: [] });
});

const rest = 'b:ONLINE:SECONDARY c:ONLINE:PRIMARY';

test('members that contradict each other of the group or of its primary prove nothing', () => {
  const otherwise = [viewed(20_100, 'c', rest), viewed(29_000, 'b', rest)];
  expect(codesIn({ duringRecords: [viewed(20_000, 'c', rest)] })).toMatchObject({
    ...{ verdict: 'inconclusive', findings: [], facts: ['primary'] },
  });
  // Each reports a change in its own time.
  expect(codesIn({ duringRecords: otherwise }).facts).not.toContain('online');
  const whole = 'a:ONLINE:SECONDARY b:ONLINE:PRIMARY c:ONLINE:SECONDARY';
  expect(codesIn({ duringRecords: [viewed(20_100, 'c', whole)] })).toMatchObject({
    ...{ verdict: 'inconclusive', facts: ['online'] },
  });
});

test('a client’s commit at a member that is read-only, or no primary, proves nothing', () => {
  const third: Session = { client: 'outside', session: 1, node: 'c', acks: [24_000, 25_000] };
  const sessions = [...oldSessions, third];
  expect(codesIn({ sessions }).facts).toEqual(['primary']);
  const duringRecords = [viewed(20_000, 'c', 'b:ONLINE:PRIMARY c:ONLINE:SECONDARY', true)];
  expect(codesIn({ sessions, duringRecords })).toEqual({
    ...{ verdict: 'inconclusive', findings: [], facts: ['primary', 'takesWrites'] },
  });
});

test('any two members that write in turns are an exposure, a primary that comes back is none', () => {
  const third: Session = { client: 'outside', session: 2, node: 'c', acks: [22_500] };
  const sessions = [...oldSessions, successor, third];
  const writable = viewed(20_000, 'c', 'b:UNREACHABLE:PRIMARY c:ONLINE:PRIMARY');
  expect(codesIn({ sessions, duringRecords: [writable] })).toEqual({
    ...{ verdict: 'exposed', findings: ['BOTH_WROTE'], facts: [] },
  });
  const again = 'a:ONLINE:PRIMARY b:ONLINE:SECONDARY c:ONLINE:SECONDARY';
  const back: Session = { client: 'outside', session: 2, node: 'a', acks: [43_000] };
  const lastRecords = [
    ...['b', 'c', 'a'].map((node, n) => viewed(42_000 + n, node, again, node !== 'a')),
    ...[ledger(46_000, 'second', 'a'), ledger(46_500, undefined, 'b')],
    ledger(46_500, undefined, 'c'),
  ];
  const returned = { sessions: [...oldSessions, successor, back], lastRecords };
  expect(codesIn(returned)).toMatchObject({ verdict: 'safe', facts: [] });
});

test('a commit that a reader got and the group lost is lost, whatever its client was answered', () => {
  const unknown: Session = { ...successor, acks: [22_000, 23_000, undefined] };
  const sessions = [...oldSessions, unknown];
  const extraRecords = [read(35_000, 'outside', 'b', { '0/1': 2 })];
  expect(codesIn({ sessions }).verdict).toBe('safe');
  expect(codesIn({ sessions, extraRecords }).verdict).toBe('lost');
});

test('a group whose members reported nothing is inconclusive', () => {
  const story = historyOf({});
  const records = [...story.smallRecords()].filter(
    (record) => record.type !== 'observation' || record.name !== 'member-view',
  );
  const { reasons } = judgeGroup(
    { ...story, smallRecords: () => records.values() as Generator<SmallRecord> },
    { database: mysql },
  );
  expect(reasons.map(({ words }) => words)).toContain(
    'the group’s members reported nothing in the whole run',
  );
});

test('rows of a reading that the history does not have are not lost', () => {
  const verdict = judgeGroup(historyOf({ unread: 'first' }), { database: mysql });
  expect(verdict).toMatchObject({
    ...{ verdict: 'inconclusive', lost: 0 },
    incompleteBecause: ['the history has 0 of 6 rows of the first reading'],
  });
});

test('a history of today says what clients were to do, and that its journals are whole', () => {
  const { verdict, incompleteBecause } = judgeGroup(historyOf({ inRun: { schemaVersion: 3 } }), {
    database: mysql,
  });
  expect(verdict).toBe('inconclusive');
  expect(incompleteBecause).toEqual(
    expect.arrayContaining([
      'the history does not say what the clients were to do',
      'the history does not say what the clients were to do',
      'history segment run ends before the run listed what else there is',
      'the testbed reported nothing in the whole run',
      'the observer of api reported nothing in the whole run',
      expect.stringMatching(/^what the run goes through \(phases\)/),
      expect.stringMatching(
        /^whether it is certified \(network-partition, after: the victim reaches/,
      ),
    ]),
  );
});

const finds: Checker = {
  name: 'finds-something',
  check: ({ image, reconciliation: { acked } }) => [
    damage({
      ...{ code: 'FOUND', image, safety: 'corrupt', loud: false, evidence: [] },
      summary: `${acked} in it`,
    }),
  ],
};

test('a caller’s checker is asked of both readings, and a run that had one lacks it', async () => {
  const history = historyOf({ inRun: { custom: { checkers: [finds.name] } } });
  const verdict = judgeGroup(history, { database: mysql, checkers: [finds] });
  expect(groupVerdictSchema.parse(verdict)).toEqual(verdict);
  expect(verdict).toMatchObject({ verdict: 'corrupt', incompleteBecause: [] });
  const found = verdict.findings.filter(({ code }) => code === 'FOUND');
  expect(found.map(({ summary }) => summary)).toEqual([
    expect.stringMatching(/first.*6 in it/),
    expect.stringMatching(/second.*6 in it/),
  ]);
  expect(groupSummary(verdict)).toContain('checker finds-something');
  expect(await renderGroupHtml(verdict, mysql)).toContain('checker finds-something');
  const anew = judgeGroup(history, { database: mysql });
  expect(anew.verdict).toBe('inconclusive');
  expect(anew.incompleteBecause).toEqual([expect.stringContaining('checker finds-something')]);
});

test('an error, an action that failed and a certificate that fails are each a reason', () => {
  const heal = { type: 'action', actor: 'fault', name: 'network-partition', t: 32_000 } as const;
  const certificate = { type: 'certificate', t: 32_000, fault: 'network-partition' } as const;
  const extraRecords: SmallRecord[] = [
    { type: 'error', t: 32_000, where: 'heal', message: 'no engine' },
    { ...heal, step: 'failed', detail: 'no rule' },
    { ...certificate, moment: 'after', claim: 'it is back', holds: false, evidence: 'asked' },
  ];
  const { incompleteBecause } = judgeGroup(historyOf({ extraRecords }), { database: mysql });
  expect(incompleteBecause).toEqual([
    'heal: no engine',
    'fault network-partition failed: no rule',
    'certificate of network-partition (after) fails: it is back (asked)',
  ]);
});
