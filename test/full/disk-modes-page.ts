/** docs/disk-modes.json and the table of docs/disk-modes.md: what each mode of disk did, measured. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Verdict } from '../../lib/experiment/verdict.ts';
import { bytes } from '../../lib/report/html-parts.ts';
import { verdictWords } from '../../lib/experiment/scenario.ts';
import { diskModeCases, type DiskModeCase } from './disk-mode-cases.ts';

const jsonPath = 'docs/disk-modes.json';
const pagePath = 'docs/disk-modes.md';

const measuredSchema = z.object({
  name: z.string(),
  flags: z.string(),
  verdict: z.enum(verdictWords),
  asExpected: z.boolean(),
  noticed: z.enum(['loud', 'silent']).nullable(),
  acked: z.number(),
  lost: z.number(),
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

export function measuredIn({ name, flags }: DiskModeCase, verdict: Verdict): Measured {
  const { exposure, phases, images, versions } = verdict;
  const lostIn = (image: string): number | undefined =>
    images.find((each) => each.image === image)?.lost;
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

function readMeasured(): readonly Measured[] {
  if (!existsSync(jsonPath)) return [];
  return z.array(measuredSchema).parse(JSON.parse(readFileSync(jsonPath, 'utf8')));
}

/** In the order of the cases; a newer measurement takes the place of the older one. */
export function noteMeasured(measured: Measured): void {
  const all = new Map(readMeasured().map((each) => [each.name, each]));
  all.set(measured.name, measured);
  const ordered = diskModeCases.flatMap(({ name }) => all.get(name) ?? []);
  writeFileSync(jsonPath, `${JSON.stringify(ordered, undefined, 2)}\n`);
}

const marks = ['<!-- measured -->\n', '<!-- end -->'] as const;

/** The page with its table made anew from the measurements; the rest stays. */
export function renderedPage(): string {
  const page = readFileSync(pagePath, 'utf8');
  const [head, , tail] = page.split(new RegExp(marks.join('|')));
  return [head, marks[0], table(readMeasured()), marks[1], tail].join('');
}

export const writePage = (): void => writeFileSync(pagePath, renderedPage());

function table(measured: readonly Measured[]): string {
  const rows = diskModeCases.map(({ name, experiment, flags, shows }) => {
    const found = measured.find((each) => each.name === name);
    const run = `${experiment === 'node-crash' ? 'crash' : 'partition'} \`${flags || 'stock'}\``;
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
