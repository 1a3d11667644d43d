/** docs/internals/mutants.md: its table is made from docs/internals/mutants.json, the rest stays. */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  readMeasuredMutants,
  scoreInWords,
  type MutantRow,
} from '../../lib/report/mutant-score.ts';

const path = 'docs/internals/mutants.md';
const marks = ['<!-- measured -->\n', '<!-- end -->'] as const;

export function renderedPage(): string {
  const [head, , tail] = readFileSync(path, 'utf8').split(new RegExp(marks.join('|')));
  const { mutants, measuredOn } = readMeasuredMutants();
  const table = [
    `${scoreInWords()}. Planted last on ${measuredOn}.`,
    '',
    '| Kind | What is done | Proof | Class | Found |',
    '| --- | --- | --- | --- | --- |',
    ...mutants.map(row),
    '',
  ].join('\n');
  return [head, marks[0], table, marks[1], tail].join('');
}

export function writePage(): void {
  writeFileSync(path, renderedPage());
}

function row({ name, shows, effect, proven, className, caught, named, codes }: MutantRow): string {
  const found = codes.replaceAll(/\w+/g, '`$&`');
  const told = caught ? `${found}${named ? '' : ' (**not its class**)'}` : '**not caught**';
  const seen = proven ? effect : `**not proven**: ${effect}`;
  return `| \`${name}\` | ${shows} | ${seen.replaceAll('|', '\\|')} | ${className} | ${told} |`;
}
