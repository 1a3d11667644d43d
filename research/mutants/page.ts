/** docs/internals/mutants.md: its table is made from the store of measurements, the rest stays. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readPlanted, scoreInWords, type MutantLine } from '../../lib/report/mutant-score.ts';
import { mutants } from './kinds/index.ts';

const path = 'docs/internals/mutants.md';
const marks = ['<!-- measured -->\n', '<!-- end -->'] as const;

export function renderedPage(): string {
  const [head, , tail] = readFileSync(path, 'utf8').split(new RegExp(marks.join('|')));
  const stored = readPlanted();
  const planted = stored.planted.toSorted((a, b) => orderOf(a) - orderOf(b));
  const dates = planted.map(({ date }) => date ?? '').toSorted();
  const table = [
    `${scoreInWords({}, stored)}. Planted last on ${dates.at(-1)}.`,
    '',
    '| Kind | What is done | Proof | Class | Found |',
    '| --- | --- | --- | --- | --- |',
    ...planted.map(row),
    '',
  ].join('\n');
  return [head, marks[0], table, marks[1], tail].join('');
}

export function writePage(): void {
  writeFileSync(path, renderedPage());
}

const order = mutants.map(({ name }) => name);
const orderOf = ({ id }: MutantLine): number => order.indexOf(id);

function row({ id, scenario, outcome }: MutantLine): string {
  const { shows, className } = scenario;
  const { effect, proven, caught, named, codes } = outcome;
  const found = codes.replaceAll(/\w+/g, '`$&`');
  const told = caught ? `${found}${named ? '' : ' (**not its class**)'}` : '**not caught**';
  const seen = proven ? effect : `**not proven**: ${effect}`;
  return `| \`${id}\` | ${shows} | ${seen.replaceAll('|', '\\|')} | ${className} | ${told} |`;
}
