/**
 * A node's mounted view of the volume: what it read when it mounted, and what it wrote since. Two
 * such views know nothing of each other, as with two kernels: where both write, the later stands.
 */
import type { LedgerEntry } from '../../history/index.ts';
import { bytesPerCommit, bytesPerMount } from '../timings.ts';
import type { Path, Volume } from './volume.ts';

/** Called once: true when it is on the disk, false when it never will be. */
export type OnWritten = (done: boolean) => void;

export class Mount {
  readonly path: Path;
  readonly volume: Volume;
  commits = 0;
  #rows: (LedgerEntry | undefined)[] = [];
  /** Commits on the volume before this view was made: it has read them. */
  #commitsBefore = 0;
  /** Servers that began on the volume before this view was made, and through it. */
  #startsBefore = 0;
  #starts = 0;
  /** The disk has said of rows up to here that they are on it; the others are in the cache only. */
  #syncedTo = 0;
  /** This view's, in the cache or on the disk. */
  #schema: 'old' | 'changed' | 'written' = 'old';
  readonly #dirtyFiles = new Map<string, string>();
  /** After an I/O error the file system takes no more writes: ext4 aborts its journal, XFS stops. */
  aborted = false;
  /** The server stopped cleanly: nothing of it is left in the cache. */
  #wroteBack = false;
  /** What fsck said before the mount, in e2fsck's words. */
  readonly fsck: string;

  /** Mounting writes: the journal's replay is the first write of a successor. */
  constructor(volume: Volume, path: Path) {
    this.volume = volume;
    this.path = path;
    this.fsck = volume.clean ? 'clean (model)' : 'recovering journal (model)';
    if (volume.blank) this.#format();
    if (volume.files === undefined) {
      volume.clean = false;
      path.bytesWritten += bytesPerMount;
    }
    path.mounted = true;
    path.readOnly = false;
    this.reread();
  }

  /** Durable commits that others made on the volume since this view was made. */
  get foreignCommits(): number {
    return this.volume.commits - this.#commitsBefore - this.commits;
  }

  /** Another server began on the volume since this view was made: it wrote, also where nobody commits. */
  get replaced(): boolean {
    return this.foreignCommits > 0 || this.volume.starts > this.#startsBefore + this.#starts;
  }

  get newest(): LedgerEntry | undefined {
    return this.#rows.at(-1);
  }

  /** The newest row of this view that is known to be on the disk. */
  get newestDurable(): LedgerEntry | undefined {
    return this.#rows[this.#syncedTo - 1];
  }

  /** Rows of this view are in the cache only. */
  get dirty(): boolean {
    return this.#syncedTo < this.#rows.length;
  }

  /** What is on the volume now becomes this view, as for a server that opens shared files. */
  reread(): void {
    this.#rows = this.volume.rows.slice();
    this.#schema = this.volume.schemaChanged ? 'written' : 'old';
    this.#syncedTo = this.#rows.length;
    this.#commitsBefore = this.volume.commits - this.commits;
    this.#startsBefore = this.volume.starts - this.#starts;
  }

  /** A server has recovered on this view: recovery itself writes redo, undo and its own tables. */
  begin(): void {
    this.#wroteBack = false;
    this.#starts += 1;
    this.volume.starts += 1;
  }

  /** Into the cache; not durable before `sync`. */
  append(entry: LedgerEntry): void {
    this.#wroteBack = false;
    this.#rows.push(entry);
  }

  /** Into the cache; not durable before `sync`. */
  changeSchema(): void {
    this.#wroteBack = false;
    if (this.#schema === 'old') this.#schema = 'changed';
  }

  /** The server's own files, not others. */
  sync(written: OnWritten): void {
    const to = this.#rows.length;
    this.#submit(() => this.#writeTo(to), written);
  }

  writeFile(name: string, content: string, options: { readonly synced: boolean }): void {
    if (options.synced) this.#submit(() => this.#writeCanary(name, content));
    else this.#dirtyFiles.set(name, content);
  }

  /**
   * A server's clean shutdown writes all its pages. Where another server has begun meanwhile, this
   * undoes what that one wrote.
   */
  writeBack(written: OnWritten): void {
    this.#wroteBack = true;
    this.sync((done) => {
      if (done && this.replaced) this.#submit(() => this.#writeAll(), written);
      else written(done);
    });
  }

  /** A server can work on it. */
  get takesWrites(): boolean {
    return !this.path.cut && !this.aborted && !this.path.readOnly;
  }

  /** Writes what the cache holds first. `done` is called only where that succeeds. */
  remountReadOnly(done: () => void): void {
    this.#writeCache((written) => {
      if (!written) return;
      this.path.readOnly = true;
      done();
    });
  }

  remountWritable(): void {
    if (!this.path.readOnly) return;
    this.path.readOnly = false;
    this.volume.clean = false;
  }

  /** The server's lock on its files. False where another server has it. */
  lock(locker: object): boolean {
    const holder = this.volume.lockers.get(this.#lockTable) ?? locker;
    this.volume.lockers.set(this.#lockTable, holder);
    return holder === locker;
  }

  unlock(locker: object): void {
    const { lockers } = this.volume;
    if (lockers.get(this.#lockTable) === locker) lockers.delete(this.#lockTable);
  }

  /** A device's is the kernel's that has it mounted; a shared directory has one, or each node its own. */
  get #lockTable(): unknown {
    const { files } = this.volume;
    return files === undefined ? this : files === 'local' ? this.path.node : files;
  }

  unmount(unmounted: () => void): void {
    this.#writeCache(() => {
      // A path that was cut is known to the disk as one that ended without an unmount.
      if (!this.path.cut) this.path.unmount();
      unmounted();
    });
  }

  /** What it still holds, and marks the journal clean, unless it can write no more. */
  #writeCache(written: OnWritten): void {
    this.sync((done) => {
      if (done) {
        for (const [name, content] of this.#dirtyFiles) this.#writeCanary(name, content);
        this.volume.clean = true;
        // A server that was killed left its pages to the kernel, which writes them now at the latest.
        if (!this.#wroteBack && this.replaced) this.#breakTrees();
      }
      written(done);
    });
  }

  /** Writes of a replaced server, where it has any of its own. */
  #breakTrees(): void {
    const { volume, path } = this;
    if (this.#starts === 0 || volume.files !== undefined) return;
    const beside = volume.others(path.node).some(({ writes }) => writes);
    volume.damage ??= volume.twoWriters.writeBack(beside ? 'beside' : 'gone');
  }

  /** One that the path refuses is the last. */
  #submit(write: () => void, written: OnWritten = () => undefined): void {
    const request = (passes: boolean): void => {
      if (passes) write();
      else this.aborted = true;
      written(passes);
    };
    if (this.aborted || this.path.readOnly) written(false);
    else this.path.submit(request);
  }

  /** Over whatever another server has written meanwhile. */
  #writeAll(): void {
    this.volume.rows = this.#rows.slice();
    this.volume.schemaChanged = this.#schema === 'written';
    this.#breakTrees();
  }

  #writeTo(to: number): void {
    if (this.#schema === 'changed') this.#writeSchema();
    for (let at = this.#syncedTo; at < to; at++) this.#writeRow(at);
    this.#syncedTo = Math.max(this.#syncedTo, to);
  }

  #writeRow(at: number): void {
    const { volume, path } = this;
    const row = this.#rows[at];
    if (row === undefined) return;
    const before = volume.rows[at];
    path.undo?.push(() => {
      // A block that another path wrote since is that one's.
      if (volume.rows[at] === row) volume.rows[at] = before;
    });
    volume.rows[at] = row;
    volume.commits += 1;
    volume.damage ??= volume.twoWriters.commit(this, volume.nowUs);
    this.commits += 1;
    path.bytesWritten += bytesPerCommit;
  }

  #writeSchema(): void {
    const { volume, path } = this;
    path.undo?.push(() => (volume.schemaChanged = false));
    volume.schemaChanged = true;
    this.#schema = 'written';
  }

  #writeCanary(name: string, content: string): void {
    const { canaries } = this.volume;
    const before = canaries.get(name);
    this.path.undo?.push(() => {
      if (before === undefined) canaries.delete(name);
      else canaries.set(name, before);
    });
    canaries.set(name, content);
  }

  /** mkfs, and the empty database on it. */
  #format(): void {
    const { volume, path } = this;
    path.undo?.push(() => {
      volume.blank = true;
      volume.clean = true;
      volume.rows = [];
      volume.schemaChanged = false;
    });
    volume.blank = false;
    volume.made += 1;
  }
}
