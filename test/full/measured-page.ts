/** Pages that tell what single runs came to: a table made from docs/fault-events.jsonl. */
import { readFileSync, writeFileSync } from 'node:fs';
import { lineOf } from '../../lib/matrix/collect-events.ts';
import {
  merged,
  readStore,
  writeStore,
  type EventLine,
  type EventDetails,
} from '../../lib/expectations/event-store.ts';
import type { Verdict } from '../../lib/experiment/verdict/verdict.ts';
import type { ImageLabel } from '../../lib/storage/identity.ts';
import { bytes } from '../../lib/report/html-parts.ts';
import type { MeasuredCase } from './measured-case.ts';

export interface PageOptions {
  /** Of its Markdown file under docs/reference/, and of its rows in the store. */
  readonly name: string;
  /** In the order of the table. */
  readonly cases: readonly MeasuredCase[];
}

/** A line of the store that is shown by itself. */
type Row = EventLine & { readonly shown: EventDetails };

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
  note({ name }: MeasuredCase, folder: string, verdict: Verdict): void {
    const about = { row: this.#rowOf(name), shown: shownOf(verdict) };
    const lines = lineOf(folder, { source: 'a run by itself' }).map((line) => ({
      ...line,
      ...about,
    }));
    if (lines.length > 0) writeStore(merged(readStore(), lines));
  }

  /** The page with its table made anew from the store; the rest stays. */
  rendered(): string {
    const page = readFileSync(this.path, 'utf8');
    const [head, , tail] = page.split(new RegExp(marks.join('|')));
    const newest = newestRows();
    const rowOf = ({ name }: MeasuredCase): Row | undefined => newest.get(this.#rowOf(name));
    return [head, marks[0], table(this.#cases, rowOf), marks[1], tail].join('');
  }

  write(): void {
    writeFileSync(this.path, this.rendered());
  }

  #rowOf(name: string): string {
    return `${this.#name}/${name}`;
  }
}

/** By the row's name. */
function newestRows(): ReadonlyMap<string, Row> {
  const byAge = readStore().toSorted((a, b) => ((a.date ?? '') < (b.date ?? '') ? -1 : 1));
  return new Map(
    byAge.flatMap(({ row, shown, ...line }) =>
      row === undefined || shown === undefined ? [] : [[row, { ...line, row, shown }]],
    ),
  );
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
  rowOf: (one: MeasuredCase) => Row | undefined,
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

function result({ verdict, shown: { asExpected, noticed } }: Row): string {
  const surprise = asExpected ? '' : ' (NOT expected)';
  return `**${verdict}**${noticed === null ? '' : `, ${noticed}`}${surprise}`;
}

function numbers({ secondMountS, lost, acked, shown }: Row): string {
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

function shownOf({ asExpected, noticed, exposure, images }: Verdict): EventDetails {
  const { ms, bytesVictim, bytesSuccessor, blocksBoth } = exposure;
  const lostIn = (image: ImageLabel): number | undefined =>
    images.find((each) => each.image === image)?.lost ?? undefined;
  return {
    ...{ asExpected, noticed, exposureMs: ms, bytesVictim, bytesSuccessor, blocksBoth },
    lostBeforeHeal: lostIn('first'),
    lostAfterHeal: lostIn('second'),
  };
}
