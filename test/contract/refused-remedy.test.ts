/** A remedy that an admission policy refused: expected where the scenario has the policy, else a step that failed. */
import { expect, test } from 'vitest';
import { openHistory } from '../../lib/history/reader.ts';
import type { SmallRecord } from '../../lib/history/records.ts';
import { assembleVerdict } from '../../lib/judge/verdict/assemble.ts';
import type { Verdict } from '../../lib/judge/verdict/verdict.ts';
import { mysql } from '../../lib/mysql/database.ts';

const history = openHistory('reports/samples/node-crash');
const records = [...history.smallRecords()];

function judged(admission: 'open' | 'fencing-proof'): Verdict {
  const changed = records.map((record): SmallRecord => {
    if (record.type === 'run') {
      const { scenario } = record;
      return {
        ...record,
        scenario: { ...scenario, kubernetes: { ...scenario.kubernetes, admission } },
      };
    }
    const isEnd = record.type === 'action' && record.actor === 'remedy' && record.step === 'done';
    return isEnd ? { ...record, step: 'refused', detail: 'ADMISSION_REFUSED: …' } : record;
  });
  const smallRecords = (): Generator<SmallRecord> => changed.values() as Generator<SmallRecord>;
  return assembleVerdict({ ...history, smallRecords }, { database: mysql });
}

const failures = ({ incompleteBecause }: Verdict): string[] =>
  incompleteBecause.filter((words) => words.startsWith('remedy '));
const refusals = ({ findings }: Verdict): string[] =>
  findings.flatMap(({ code, summary }) => (code === 'REMEDY_REFUSED' ? summary : []));

test('it is in the findings of both, and makes one inconclusive', () => {
  const [asDeclared, undeclared] = [judged('fencing-proof'), judged('open')];
  expect(failures(asDeclared)).toEqual([]);
  expect(failures(undeclared)).toEqual(['remedy force-delete refused: ADMISSION_REFUSED: …']);
  expect(undeclared.verdict).toBe('inconclusive');
  const summary = 'an admission policy refused force-delete, for want of a proof of fencing';
  expect([asDeclared, undeclared].flatMap(refusals)).toEqual([summary, summary]);
});
