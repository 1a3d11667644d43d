/** The answer of README.md is counted from the store of fault events, and its table from the runs it names. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { all, countOf, only, stock, type Values } from '../../lib/expectations/counts.ts';
import { readRuns } from '../../lib/expectations/runs.ts';
import type { VerdictWord } from '../../lib/experiment/verdict/verdict.ts';

const text = readFileSync('README.md', 'utf8');
const store = readRuns();

/** `7 of 7`: how many of the stock fault events of such runs came to that. */
function told(word: VerdictWord, values: Values, any: readonly string[]): string {
  const { count, of } = countOf(store, [word], all(stock, only(values, any)));
  return `${count} of ${of}`;
}

const cutOff = { fault: 'network-partition' };
const crashed = { fault: 'node-crash' };
const forced = { remedy: 'force-delete' };

test.each<[string, VerdictWord, Values, string[]]>([
  ['the database was corrupt in', 'corrupt', { ...cutOff, ...forced, disk: 'unfenced' }, []],
  ['nothing was lost in', 'safe', { ...cutOff, ...forced, disk: 'fenced' }, []],
  ['in 15 minutes, in', 'safe', { ...cutOff, remedy: 'none' }, ['disk', 'workload']],
  ['skipped: corrupt in', 'corrupt', { ...cutOff, remedy: 'out-of-service' }, []],
  ['every acknowledged commit was there, in', 'safe', crashed, ['remedy']],
  ['the last ones were gone, in', 'lost', { ...crashed, trxCommit: 2 }, ['remedy']],
])('… %s', (words, verdict, values, any) => {
  const [, found] = new RegExp(`${words} (\\d+ of \\d+)`).exec(text) ?? [];
  expect(found).toBe(told(verdict, { disk: values['disk'] ?? 'unfenced', ...values }, any));
});

const rows = [
  ...text.matchAll(/^\|.*\| (\*\*corrupt\*\*|safe.*?) \| \[(.*?)\]\((.*?)\/summary\.md\) \|$/gm),
];

test('the table has six runs', () => expect(rows).toHaveLength(6));

test.each(rows.map(([, outcome, found, folder]) => ({ outcome, found, folder })))(
  '$folder: $found',
  ({ outcome = '', found = '', folder = '' }) => {
    const verdict = JSON.parse(readFileSync(`${folder}/verdict.json`, 'utf8')) as {
      verdict: string;
      basis: string;
      acked: number;
      horizonS: number;
    };
    expect(verdict.basis).toBe('measured');
    expect(outcome.replaceAll('*', '')).toMatch(new RegExp(`^${verdict.verdict}`));
    const numbers = [...found.matchAll(/[\d,]+/g)].map(([digits]) =>
      Number(digits.replace(',', '')),
    );
    for (const number of numbers)
      expect([verdict.acked, Math.floor(verdict.horizonS)]).toContain(number);
  },
);
