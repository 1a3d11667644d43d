/** Pages that tell what single runs came to: a table made from data/measurements.jsonl. */
import { readFileSync, writeFileSync } from 'node:fs';
import { lineOf } from '../../lib/batch/collect.ts';
import { readRuns, type RunLine, noteLines } from '../../lib/batch/measurements.ts';
import { bytes } from '../../lib/report/html-parts.ts';
import type { MeasuredCase } from './measured-case.ts';

export interface PageOptions {
  /** Of its Markdown file under docs/reference/, and in the source of its lines in the store. */
  readonly name: string;
  /** In the order of the table. */
  readonly cases: readonly MeasuredCase[];
}

const marks = ['<!-- measured -->\n', '<!-- end -->'] as const;

export class MeasuredPage {
  readonly #cases: readonly MeasuredCase[];
  readonly #name: string;
  readonly path: string;

  constructor({ name, cases }: PageOptions) {
    this.#cases = cases;
    this.#name = name;
    this.path = `docs/reference/${name}.md`;
  }

  /** Runs are kept; the newest one of a case is the one that its row shows. */
  note({ name }: MeasuredCase, folder: string): void {
    noteLines(lineOf(folder, { source: this.#sourceOf(name) }));
  }

  /** The page with its table made anew from the store; the rest stays. */
  rendered(): string {
    const page = readFileSync(this.path, 'utf8');
    const [head, , tail] = page.split(new RegExp(marks.join('|')));
    const byAge = readRuns().toSorted((a, b) => ((a.date ?? '') < (b.date ?? '') ? -1 : 1));
    const newest = new Map(byAge.map((line) => [line.source, line]));
    const rowOf = ({ name }: MeasuredCase): RunLine | undefined => newest.get(this.#sourceOf(name));
    return [head, marks[0], table(this.#cases, rowOf), marks[1], tail].join('');
  }

  write(): void {
    writeFileSync(this.path, this.rendered());
  }

  #sourceOf(name: string): string {
    return `npm run test:full, ${this.#name}/${name}`;
  }
}

/** How a row calls the run. */
const words: Readonly<Record<MeasuredCase['experiment'], string>> = {
  'network-partition': 'partition',
  'node-crash': 'crash',
  'node-reboot': 'reboot',
  'healthy-node': 'healthy node',
  'api-partition': 'API partition',
  zombie: 'freeze',
  'uncertain-attachment': 'uncertain attachment',
  'stale-global-mount': 'stale global mount',
  'same-node-recreate': 'same-node recreate',
};

function table(
  cases: readonly MeasuredCase[],
  rowOf: (one: MeasuredCase) => RunLine | undefined,
): string {
  const rows = cases.map((one) => {
    const { experiment, flags, shows } = one;
    const found = rowOf(one);
    const run = `${words[experiment]} \`${flags || 'stock'}\``;
    const told = found === undefined ? ['not run yet', ''] : [result(found), numbers(found)];
    return `| ${run} | ${shows} | ${told.join(' | ')} |`;
  });
  return [
    '| Run | What it shows | Measured | Numbers |',
    '| --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

function result({ outcome: { verdict, shown } }: RunLine): string {
  const surprise = shown?.asExpected === false ? ' (NOT expected)' : '';
  return `**${verdict}**${shown?.noticed ? `, ${shown.noticed}` : ''}${surprise}`;
}

function numbers({ outcome }: RunLine): string {
  const { secondMountS, lost, acked, shown } = outcome;
  if (shown === undefined) return '';
  const { exposureMs, bytesVictim, bytesSuccessor, blocksBoth } = shown;
  const mounted =
    secondMountS === null ? 'no second mount' : `second mount ${secondMountS.toFixed(0)} s`;
  const seconds = (exposureMs / 1000).toFixed(1);
  // Nobody counts what is written into a shared directory.
  const written = `${bytes(bytesVictim)} and ${bytes(bytesSuccessor)}, ${blocksBoth} blocks by both`;
  const exposed =
    exposureMs === 0
      ? ''
      : `; two could write for ${seconds} s${blocksBoth === undefined ? '' : `: ${written}`}`;
  const { lostBeforeHeal, lostAfterHeal } = shown;
  const split =
    lostBeforeHeal === 0 && lostAfterHeal !== undefined && lostAfterHeal > 0
      ? ' (none of them before the heal)'
      : '';
  return `${mounted}${exposed}; ${lost ?? 'nobody knows how many'} of ${acked} commits lost${split}`;
}
