/** Pages that tell what was measured: a JSON file with the numbers, and the table made from it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Verdict } from '../../lib/experiment/verdict/verdict.ts';
import { bytes } from '../../lib/report/html-parts.ts';
import { verdictWords } from '../../lib/experiment/scenario.ts';
import type { MeasuredCase } from './measured-case.ts';

export interface PageOptions {
  /** Of its Markdown and JSON files under docs/reference/. */
  readonly name: string;
  /** In the order of the table. */
  readonly cases: readonly MeasuredCase[];
}

const measuredSchema = z.object({
  name: z.string(),
  flags: z.string(),
  verdict: z.enum(verdictWords),
  asExpected: z.boolean(),
  noticed: z.enum(['loud', 'silent']).nullable(),
  acked: z.number(),
  lost: z.number().nullable(),
  /** Seconds after the fault; null: none before the heal. */
  secondMountS: z.number().nullable(),
  exposureMs: z.number(),
  bytesVictim: z.number(),
  bytesSuccessor: z.number(),
  blocksBoth: z.number().optional(),
  /** Acknowledged commits missing from the copy before the heal, and from the one after it. */
  lostBeforeHeal: z.number().optional(),
  lostAfterHeal: z.number().optional(),
  seed: z.string(),
  kubernetes: z.string().optional(),
});
export type Measured = z.output<typeof measuredSchema>;

export function measuredIn({ name, flags }: MeasuredCase, verdict: Verdict): Measured {
  const { exposure, phases, images, versions } = verdict;
  const lostIn = (image: string): number | undefined =>
    images.find((each) => each.image === image)?.lost ?? undefined;
  const { blocksBoth } = exposure;
  return measuredSchema.parse({
    name,
    flags,
    verdict: verdict.verdict,
    asExpected: verdict.asExpected,
    noticed: verdict.noticed,
    acked: verdict.acked,
    lost: verdict.lost,
    secondMountS: phases.secondMount,
    exposureMs: exposure.ms,
    bytesVictim: exposure.bytesVictim,
    bytesSuccessor: exposure.bytesSuccessor,
    blocksBoth,
    lostBeforeHeal: lostIn('first'),
    lostAfterHeal: lostIn('second'),
    seed: verdict.seed,
    kubernetes: versions['kubernetes'],
  });
}

const marks = ['<!-- measured -->\n', '<!-- end -->'] as const;

export class MeasuredPage {
  readonly #cases: readonly MeasuredCase[];
  readonly path: string;
  readonly #jsonPath: string;

  constructor({ name, cases }: PageOptions) {
    this.#cases = cases;
    this.path = `docs/reference/${name}.md`;
    this.#jsonPath = `docs/reference/${name}.json`;
  }

  /** In the order of the cases; a newer measurement takes the place of the older one. */
  note(measured: Measured): void {
    const all = new Map(this.#measured().map((each) => [each.name, each]));
    all.set(measured.name, measured);
    const ordered = this.#cases.flatMap(({ name }) => all.get(name) ?? []);
    writeFileSync(this.#jsonPath, `${JSON.stringify(ordered, undefined, 2)}\n`);
  }

  /** The page with its table made anew from the measurements; the rest stays. */
  rendered(): string {
    const page = readFileSync(this.path, 'utf8');
    const [head, , tail] = page.split(new RegExp(marks.join('|')));
    return [head, marks[0], table(this.#cases, this.#measured()), marks[1], tail].join('');
  }

  write(): void {
    writeFileSync(this.path, this.rendered());
  }

  #measured(): readonly Measured[] {
    if (!existsSync(this.#jsonPath)) return [];
    return z.array(measuredSchema).parse(JSON.parse(readFileSync(this.#jsonPath, 'utf8')));
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

function table(cases: readonly MeasuredCase[], measured: readonly Measured[]): string {
  const rows = cases.map(({ name, experiment, flags, shows }) => {
    const found = measured.find((each) => each.name === name);
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

function result({ verdict, asExpected, noticed }: Measured): string {
  const surprise = asExpected ? '' : ' (NOT expected)';
  return `**${verdict}**${noticed === null ? '' : `, ${noticed}`}${surprise}`;
}

function numbers(row: Measured): string {
  const { secondMountS, lost, acked, exposureMs, bytesVictim, bytesSuccessor, blocksBoth } = row;
  const mounted =
    secondMountS === null ? 'no second mount' : `second mount ${secondMountS.toFixed(0)} s`;
  const seconds = (exposureMs / 1000).toFixed(1);
  // Nobody counts what is written into a shared directory.
  const written = `${bytes(bytesVictim)} and ${bytes(bytesSuccessor)}, ${blocksBoth} blocks by both`;
  const exposed =
    exposureMs === 0
      ? ''
      : `; two could write for ${seconds} s${blocksBoth === undefined ? '' : `: ${written}`}`;
  const { lostBeforeHeal, lostAfterHeal } = row;
  const split =
    lostBeforeHeal === 0 && lostAfterHeal !== undefined && lostAfterHeal > 0
      ? ' (none of them before the heal)'
      : '';
  return `${mounted}${exposed}; ${lost} of ${acked} commits lost${split}`;
}
