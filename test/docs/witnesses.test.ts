import { expect, test } from 'vitest';
import {
  type FactName,
  type Witness,
  factNames,
  facts,
  witnesses,
} from '../../lib/judge/facts/table.ts';
import { proofs } from '../../lib/judge/evidence/attendance.ts';
import * as probe from '../../lib/probe/judge/facts.ts';
import { trusted, trustedPairs } from '../evidence-mutants/trusted.ts';
import { filled, read } from './pages.ts';

const path = 'docs/reference/witnesses.md';

const seconds = (ms: number): string => `${ms / 1000} s`;

interface Row {
  readonly lateMs: number;
  readonly earlyMs: number;
  readonly of: readonly string[];
}
interface Fact {
  readonly about: string;
  readonly witnesses: Readonly<Record<string, Row>>;
}

const rowsOf = ({ about, witnesses: rows }: Fact, whose: (witness: string) => string): string[] =>
  Object.entries(rows).map(
    ([witness, { lateMs, earlyMs, of }], index) =>
      `| ${index === 0 ? about : ''} | ${whose(witness)} | ${seconds(lateMs)} | ${seconds(earlyMs)} | ${of.join(', ')} |`,
  );

const tableHead = [
  ...['', '', '| Fact | Witness | Late | Early | Records |'],
  '| --- | --- | --- | --- | --- |',
];

const table = [
  ...tableHead,
  ...factNames.flatMap((fact) => rowsOf(facts[fact], (witness) => witnesses[witness as Witness])),
  '',
  '| Witness | A record that it has wherever it sees |',
  '| --- | --- |',
  ...Object.entries(proofs).map(
    ([witness, { proof }]) => `| ${witnesses[witness as Witness]} | ${proof} |`,
  ),
  '',
  '',
].join('\n');

const ofProbe = [
  ...tableHead,
  ...Object.values(probe.facts).flatMap((fact) =>
    rowsOf(fact, (witness) => probe.witnesses[witness as probe.Witness]),
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

/** Of the fact, beside the two. */
const others = (fact: FactName, pair: readonly string[]): string =>
  (Object.keys(facts[fact].witnesses) as Witness[])
    .filter((witness) => !pair.includes(witness))
    .map((witness) => witnesses[witness])
    .join(', ') || 'nobody';

const rowOfPair = ([name, kinds]: [string, readonly string[]]): string => {
  const [fact, both] = name.split('/') as [FactName, string];
  const pair = both.split('+') as Witness[];
  const named = pair.map((witness) => witnesses[witness]).join(' + ');
  return `| ${facts[fact].about} | ${named} | ${kinds.join(', ')} | ${others(fact, pair)} |`;
};

const pairs = [
  '',
  '',
  '| Fact | Two witnesses | Lies that nothing detects | Others of the fact |',
  '| --- | --- | --- | --- |',
  ...Object.entries(trustedPairs).map(rowOfPair),
  '',
  '',
].join('\n');

test('the page of witnesses is made from the table', async () => {
  const parts = { witnesses: table, probe: ofProbe, trusted: list, pairs };
  await expect(filled(read(path), parts)).toMatchFileSnapshot(`../../${path}`);
});
