/** What the runs of a batch have to show, and how to make the pages that are not there. */
import type { Batch, BatchCell } from '../../matrix/batch.ts';

/** Address of what a run's folder has to show; undefined where it has nothing. */
export type AddressOf = (folder: string) => string | undefined;

/** A shell command that makes the pages of these runs, then the batch's, which links to them. */
export type RemakeOf = (folders: readonly string[]) => string;

export interface RunsOnPage {
  readonly batch: Batch;
  readonly addressOf: AddressOf;
  readonly remakeOf: RemakeOf;
}

export const isPage = (address: string | undefined): boolean =>
  address?.endsWith('/report.html') ?? false;

/** Whoever reads of a cell that is not safe wants to see why. */
export const wantsPage = ({ verdict }: BatchCell): boolean => verdict !== 'safe';

/** Folders of the cell's runs that have something to show and no page. */
export const lacking = ({ runs }: BatchCell, { addressOf }: RunsOnPage): string[] =>
  runs
    .map(({ folder }) => folder)
    .filter((folder) => addressOf(folder) !== undefined && !isPage(addressOf(folder)));
