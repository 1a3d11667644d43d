/** The answer of README.md is counted from the store of fault events, and its table from the runs it names. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  all,
  countOf,
  crashed,
  cutOff,
  disk,
  field,
  remedy,
  stock,
  unchanged,
  type Fits,
} from '../../lib/expectations/counts.ts';
import { readStore } from '../../lib/expectations/event-store.ts';
import type { VerdictWord } from '../../lib/experiment/verdict.ts';

const text = readFileSync('README.md', 'utf8');
const store = readStore();

/** `7 of 7`: how many of the stock fault events that fit came to that. */
function told(word: VerdictWord, fits: Fits): string {
  const { count, of } = countOf(store, [word], all(stock, fits));
  return `${count} of ${of}`;
}

test.each<[string, VerdictWord, Fits]>([
  ['the database was corrupt in', 'corrupt', all(cutOff, remedy('force-delete'), disk('unfenced'))],
  ['nothing was lost in', 'safe', all(cutOff, remedy('force-delete'), disk('fenced'))],
  [
    'no second node mounted in 15 minutes, in',
    'safe',
    // Grace 0 and killed servers end the pod; a written Lease keeps the node.
    all(cutOff, remedy('none'), unchanged('terminationGraceS', 'serverKills', 'also')),
  ],
  [
    'they are skipped: corrupt in',
    'corrupt',
    all(cutOff, remedy('out-of-service'), disk('unfenced'), unchanged('untaintAt')),
  ],
  [
    'every acknowledged commit was there, in',
    'safe',
    all(crashed, disk('unfenced'), unchanged('trxCommit')),
  ],
  ['the last ones were gone, in', 'lost', all(crashed, disk('unfenced'), field('trxCommit', 2))],
])('… %s', (words, verdict, fits) => {
  const [, found] = new RegExp(`${words} (\\d+ of \\d+)`).exec(text) ?? [];
  expect(found).toBe(told(verdict, fits));
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
