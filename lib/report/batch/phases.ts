/** Where the time went in the runs of a batch: each step of the way back, and its slowest run. */
import type { Verdict } from '../../judge/index.ts';
import type { Batch } from '../../batch/index.ts';
import { recoverySteps } from '../report-data.ts';

export type RunVerdict = Pick<Verdict, 'phases' | 'versions'>;

/** The verdict of the run in that folder; undefined where it came to none. */
export type VerdictOf = (folder: string) => RunVerdict | undefined;

export interface PhaseRow {
  readonly name: string;
  /** Runs that took this step. */
  readonly runs: number;
  readonly medianS: number;
  readonly slowestS: number;
  /** The slowest run: its cell and its folder. */
  readonly cell: string;
  readonly folder: string;
}

interface Taken extends Pick<PhaseRow, 'name' | 'cell' | 'folder'> {
  readonly tookS: number;
}

/** In the order of the steps; the slowest of equals is the first. */
export function slowestPhases({ cells }: Pick<Batch, 'cells'>, verdictOf: VerdictOf): PhaseRow[] {
  const taken = cells.flatMap(({ label, runs }) =>
    runs.flatMap(({ folder }): Taken[] => {
      const verdict = verdictOf(folder);
      if (verdict === undefined) return [];
      return recoverySteps(verdict).map(({ name, fromS, toS }) => ({
        name,
        tookS: toS - fromS,
        cell: label,
        folder,
      }));
    }),
  );
  return [...Map.groupBy(taken, ({ name }) => name)].flatMap(([name, all]): PhaseRow[] => {
    const sorted = all.toSorted((a, b) => b.tookS - a.tookS);
    const [slowest] = sorted;
    const middle = sorted[Math.floor(sorted.length / 2)];
    if (slowest === undefined || middle === undefined) return [];
    const { cell, folder, tookS: slowestS } = slowest;
    return [{ name, runs: all.length, medianS: middle.tookS, slowestS, cell, folder }];
  });
}
