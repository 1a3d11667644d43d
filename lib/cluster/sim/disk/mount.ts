/**
 * A node's mounted view of the volume: what it read when it mounted, and what it wrote since. Two
 * such views know nothing of each other, as with two kernels: where both write, the later stands.
 */
import type { LedgerEntry } from '../../../workload/sql.ts';
import { bytesPerCommit, bytesPerMount } from '../timings.ts';
import type { Path, Volume } from './volume.ts';

export class Mount {
  readonly path: Path;
  readonly volume: Volume;
  /** Durable commits through this view. */
  commits = 0;
  readonly #rows: (LedgerEntry | undefined)[];
  /** Commits on the volume before this view was made: it has read them. */
  readonly #commitsBefore: number;
  /** Rows from here on are in this node's cache only. */
  #syncedTo: number;
  readonly #dirtyFiles: Record<string, string> = {};
  /** What fsck said before the mount, in e2fsck's words. */
  readonly fsck: string;

  /** Mounting writes: the journal's replay is the first write of a successor. */
  constructor(volume: Volume, path: Path) {
    this.volume = volume;
    this.path = path;
    this.fsck = volume.clean ? 'clean (model)' : 'recovering journal (model)';
    volume.clean = false;
    this.#rows = volume.rows.slice();
    this.#syncedTo = this.#rows.length;
    this.#commitsBefore = volume.commits;
    path.bytesWritten += bytesPerMount;
  }

  /** Durable commits that others made on the volume since this view was made. */
  get foreignCommits(): number {
    return this.volume.commits - this.#commitsBefore - this.commits;
  }

  /** Into the cache; not durable before `sync`. */
  append(entry: LedgerEntry): void {
    this.#rows.push(entry);
  }

  /** The server's own files, not others; false where the path is cut and nothing was written. */
  sync(): boolean {
    if (this.path.cut) return false;
    for (let at = this.#syncedTo; at < this.#rows.length; at++) this.#writeRow(at);
    this.#syncedTo = this.#rows.length;
    return true;
  }

  writeFile(name: string, content: string, options: { readonly synced: boolean }): void {
    if (!options.synced) this.#dirtyFiles[name] = content;
    else if (!this.path.cut) this.volume.canaries[name] = content;
  }

  /**
   * A server's clean shutdown writes all its pages. Where another server has committed meanwhile,
   * this undoes what that one wrote.
   */
  writeBack(): void {
    if (!this.sync() || this.foreignCommits === 0) return;
    this.volume.rows = this.#rows.slice();
  }

  /** Writes what the cache still holds and marks the journal clean, unless the path is cut. */
  unmount(): void {
    if (!this.sync()) return;
    Object.assign(this.volume.canaries, this.#dirtyFiles);
    this.volume.clean = true;
  }

  #writeRow(at: number): void {
    const row = this.#rows[at];
    if (row === undefined) return;
    this.volume.rows[at] = row;
    this.volume.commits += 1;
    this.commits += 1;
    this.path.bytesWritten += bytesPerCommit;
  }
}
