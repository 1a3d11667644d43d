/** No number stands where nobody knows it: a copy whose audit failed tells nothing of what is lost. */
import { expect, test } from 'vitest';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import { headlineOf } from '../../lib/judge/verdict/words.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import type { ImageLabel } from '../../lib/history/evidence.ts';
import { openHistory } from '../../lib/history/reader.ts';
import type { SmallRecord } from '../../lib/history/records.ts';
import { renderHtml } from '../../lib/report/html.ts';
import { reportData } from '../../lib/report/report-data.ts';
import { renderSummary } from '../../lib/report/write.ts';
import { mysql } from '../../lib/mysql/database.ts';

/** Lost 19 of 2,151 commits, and 19 of 2,348 after the heal. */
const history = openHistory('reports/samples/node-crash-trx-commit-2');
const records = [...history.smallRecords()];

/** As the array's device could not be freed for it. */
const failed = {
  ...{ ledgerComplete: false, ledgerRows: 0, starts: [] },
  failures: ['copy: LOOP_CTL_REMOVE: busy'],
};

function judged(become: (record: SmallRecord) => readonly SmallRecord[]): Verdict {
  const changed = records.flatMap(become);
  expect(changed).not.toEqual(records);
  return assembleVerdict(
    {
      ...history,
      smallRecords: () => changed.values() as Generator<SmallRecord>,
    },
    { database: mysql },
  );
}

const unaudited = (...labels: readonly ImageLabel[]): Verdict =>
  judged((record) =>
    record.type === 'image' && labels.includes(record.image)
      ? [{ ...record, evidence: { ...record.evidence, ...failed } }]
      : [record],
  );

test('the first copy’s audit failed', () => {
  const verdict = unaudited('first');
  expect(verdict).toMatchObject({ verdict: 'lost', complete: false, lost: 19 });
  expect(verdict.images[1]).toMatchObject({ image: 'first', lost: null, readable: false });
  expect(verdict.missing).toEqual({
    unreadableBeforeHeal: null,
    lost: { count: 19, of: 2348 },
    afterHeal: { count: 19, of: 2348 },
  });
  expect(verdict.sentence).toContain(
    'It is not known how many of 2,151 acknowledged commits were there before the heal. ' +
      'After the heal, 19 of 2,348 acknowledged commits were lost.',
  );
  expect(renderSummary(verdict)).toContain('the copy from before the heal could not be audited');
});

test('the second copy’s audit failed', () => {
  const verdict = unaudited('second');
  expect(verdict.missing).toEqual({
    unreadableBeforeHeal: { count: 0, of: 2151 },
    lost: { count: 19, of: 2151 },
    afterHeal: null,
  });
  expect(verdict.sentence).toContain(
    'Before the heal, 19 of 2,151 acknowledged commits were lost. ' +
      'It is not known how many of 2,348 acknowledged commits were there after the heal.',
  );
  expect(renderSummary(verdict)).toContain('the copy from after the heal could not be audited');
});

test.each([
  ['both audits failed', () => unaudited('first', 'second')],
  ['no copy was made after the fault', withoutCopies],
  ['no copy was made at all', () => judged((record) => (record.type === 'image' ? [] : [record]))],
])('%s: no loss is known, nor that there is none', async (_, judge) => {
  const verdict = judge();
  expect(verdict).toMatchObject({ verdict: 'inconclusive', loss: null, lost: null });
  expect(verdict.missing).toEqual({ unreadableBeforeHeal: null, lost: null, afterHeal: null });
  expect(renderSummary(verdict)).toContain('| Acknowledged commits | not known (');
  expect(renderSummary(verdict)).not.toMatch(/\| 0 \| 0 \|/);
  const page = await renderHtml(reportData(verdict, history, mysql));
  expect(page).toContain('Their fate is not known');
});

test('a fault that never came lets nobody know what it would have let happen', () => {
  const [fault] = records.filter((record) => record.type === 'action' && record.actor === 'fault');
  const faultMs = fault?.type === 'action' ? fault.t : 0;
  const verdict = judged((record) => ('t' in record && record.t >= faultMs ? [] : [record]));
  expect(verdict.sentence).toMatch(/^The node crash never came\. Inconclusive: /);
  expect(verdict.availability.downtimeMs).toBeNull();
  const summary = renderSummary(verdict);
  expect(summary).toContain('| Downtime | unknown |');
  expect(summary).toContain('| Two could write for | not known: the fault never came |');
  expect(summary).toContain('| Second mount | not known (the fault never came) |');
});

test('damage that clients saw stands beside copies of which nobody knows', () => {
  const told = { ...unaudited('first', 'second'), verdict: 'lost', safety: 'lost' } as const;
  expect(headlineOf(told)).toMatch(/^Commits that a client read are gone/);
});

function withoutCopies(): Verdict {
  return judged((record) => (record.type === 'image' && record.image !== 'steady' ? [] : [record]));
}
