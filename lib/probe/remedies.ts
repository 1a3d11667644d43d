/**
 * What each remedy did on a disk of the kind that was found, as lines and as rows: measured by this
 * project on a disk of its own, which every text says.
 */
import { database } from '../database/chosen.ts';
import type { DiskMode } from '../disk-modes/index.ts';
import {
  didInWords,
  hasRuns,
  isMeasured,
  onSuchADisk,
  type RemedyRow,
} from '../expectations/on-such-a-disk.ts';

export const remediesTitle = 'What each remedy did on such a disk';
export const whoseRuns =
  `Counted from real runs of forcedetach, with ${database.title} on a disk of its own that is made to behave so: ` +
  'fault events, each with its bound of 95 % (Wilson). Your driver and your database were not in them.';
export const noRuns =
  'The measured runs are not in this copy of forcedetach; its documentation has them (results/README.md).';

/** Rows for each mode that agrees, in its order; none where the answer is undecided. */
export const remedyRows = (
  modes: readonly DiskMode[],
): { readonly mode: DiskMode; readonly rows: readonly RemedyRow[] }[] =>
  hasRuns() ? modes.map((mode) => ({ mode, rows: onSuchADisk(mode) })) : [];

/** For a terminal: what was not measured on one line, with what reasoning alone says of it. */
export function remedyLines(modes: readonly DiskMode[]): string[] {
  if (modes.length === 0) return [];
  if (!hasRuns()) return ['', noRuns];
  return ['', `${remediesTitle}. ${whoseRuns}`, ...remedyRows(modes).flatMap(linesOf)];
}

function linesOf({ mode, rows }: ReturnType<typeof remedyRows>[number]): string[] {
  const [measured, others] = [rows.filter(isMeasured), rows.filter((row) => !isMeasured(row))];
  const width = Math.max(0, ...measured.map((row) => didInWords(row).length));
  const reasoned = others.map(
    (row) => `${didInWords(row)} (${row.reasoned?.verdicts.join(' or ') ?? 'nothing'})`,
  );
  return [
    `  ${mode}`,
    ...measured.map((row) => `    ${didInWords(row).padEnd(width)}  ${countsInWords(row)}`),
    ...(others.length === 0
      ? []
      : [`    not measured; what reasoning expects: ${reasoned.join('; ')}`]),
  ];
}

const countsInWords = ({ stock, short }: RemedyRow): string =>
  [
    ...(stock === undefined ? [] : [`stock timers: ${stock}`]),
    ...(short === undefined ? [] : [`short timers: ${short}`]),
  ].join('; ');
