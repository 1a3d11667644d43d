import { expect, test } from 'vitest';
import {
  type FactName,
  type Witness,
  factNames,
  facts,
  witnesses,
} from '../../lib/judge/facts/table.ts';
import { trusted } from '../evidence-mutants/trusted.ts';
import { filled, read } from './pages.ts';

const path = 'docs/reference/witnesses.md';

const seconds = (ms: number): string => `${ms / 1000} s`;

const rowsOf = (fact: FactName): string[] => {
  const { about, witnesses: rows } = facts[fact];
  return Object.entries(rows).map(
    ([witness, { lateMs, earlyMs, of }], index) =>
      `| ${index === 0 ? about : ''} | ${witnesses[witness as Witness].is} | ${seconds(lateMs)} | ${seconds(earlyMs)} | ${of.join(', ')} |`,
  );
};

const table = [
  '',
  '',
  '| Fact | Witness | Late | Early | Records |',
  '| --- | --- | --- | --- | --- |',
  ...factNames.flatMap(rowsOf),
  '',
  '| Witness | A record that it has wherever it sees |',
  '| --- | --- |',
  ...Object.values(witnesses).flatMap((each) =>
    'proof' in each ? [`| ${each.is} | ${each.proof} |`] : [],
  ),
  '',
  '',
].join('\n');

const list = [
  '',
  '',
  '| Attack | Why nothing detects it |',
  '| --- | --- |',
  ...Object.entries(trusted).map(([attack, why]) => `| ${attack} | ${why} |`),
  '',
  '',
].join('\n');

test('the page of witnesses is made from the table', async () => {
  await expect(filled(read(path), { witnesses: table, trusted: list })).toMatchFileSnapshot(
    `../../${path}`,
  );
});
