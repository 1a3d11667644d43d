/** The verdict of a group's run, by what its records say. */
import { expect, test } from 'vitest';
import {
  historyOf,
  ledger,
  oldSessions,
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
  expect(verdict.incompleteBecause).toEqual(['the second reading of the ledger is missing']);
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
  expect(incompleteBecause).toEqual([
    'the history does not say what the clients were to do',
    'the history does not say what the clients were to do',
    'history segment run ends before the run listed what else there is',
  ]);
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
