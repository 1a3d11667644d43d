/**
 * The volume and the paths of nodes to it: one path (a device) per attachment, each with its own
 * generation. A new attachment makes a new path.
 */
import type { LinkState, PowerLoss } from '../../scenario/index.ts';
import type { LedgerEntry } from '../../history/index.ts';
import { Chance } from '../chance.ts';
import { Path } from './path.ts';
import { TwoWriters } from './two-writers.ts';

/** The volume's content: the ledger as its primary key gives it, and what else an audit looks at. */
export interface Image {
  /** By position; a later write to a position stands. Two writers can leave gaps. */
  readonly rows: readonly (LedgerEntry | undefined)[];
  /** The one change of the schema is on it. */
  readonly schemaChanged: boolean;
  readonly canaries: Readonly<Record<string, string>>;
  /** Why no server can start on it any more, in a server's own words. */
  readonly damage: string | undefined;
  /** The how-manieth file system, and database, was made on it; undefined on a blank one. */
  readonly made: number | undefined;
}

export interface VolumeOptions {
  /** Gives the time. */
  readonly clock: { readonly nowUs: number };
  /** Its number in notices. Default 0. */
  readonly index?: number;
  /** Its handle. Default: none. */
  readonly name?: string;
  /** Decides what is only known as often or seldom. Default: always the same. */
  readonly chance?: Chance;
  /** Flushes are acknowledged and ignored. Default false. */
  readonly ignoresFlushes?: boolean;
  /** A shared directory: its locks are one table, or each node keeps its own. Default: a device. */
  readonly files?: 'shared' | 'local';
}

/** Unflushed writes that reach the disk in part or out of order leave pages of different times. */
const mixedPages =
  'pages are older than the redo log says: log sequence number is in the future (model)';

export class Volume {
  rows: (LedgerEntry | undefined)[] = [];
  schemaChanged = false;
  readonly canaries = new Map<string, string>();
  damage: string | undefined;
  /** The file system's journal has nothing to replay: it was unmounted last, not cut off. */
  clean = true;
  /** Durable commits of all servers ever. */
  commits = 0;
  /** Servers that ever recovered on it. */
  starts = 0;
  /** Nothing was ever written to it that it kept: a mount makes a file system first. */
  blank = true;
  /** File systems made on it so far. */
  made = 0;
  readonly index: number;
  readonly name: string;
  readonly twoWriters: TwoWriters;
  readonly #clock: VolumeOptions['clock'];
  readonly #volatile: boolean;
  /** Set where it is a directory: nothing of a file system is on it. */
  readonly files: 'shared' | 'local' | undefined;
  /** Who has the lock on the database's files, by lock table. */
  readonly lockers = new Map<unknown, object>();
  readonly #paths: Path[] = [];
  /** Links of nodes that do not pass. */
  readonly #links = new Map<string, LinkState>();

  constructor({
    clock,
    chance = Chance.of('volume'),
    ignoresFlushes = false,
    files,
    index = 0,
    name = '',
  }: VolumeOptions) {
    this.#clock = clock;
    this.index = index;
    this.name = name;
    this.twoWriters = new TwoWriters(chance);
    this.#volatile = ignoresFlushes;
    this.files = files;
  }

  get nowUs(): number {
    return this.#clock.nowUs;
  }

  get paths(): readonly Path[] {
    return this.#paths;
  }

  pathsOf(node: string): readonly Path[] {
    return this.#paths.filter((path) => path.node === node);
  }

  /** Paths of other nodes than this one. */
  others(node: string): readonly Path[] {
    return this.#paths.filter((path) => path.node !== node);
  }

  /** The path that a node may stage now. */
  published(node: string): Path | undefined {
    return this.#paths.findLast((path) => path.node === node && path.published);
  }

  /** Idempotent. */
  publish(node: string): Path {
    const held = this.published(node);
    if (held !== undefined) return held;
    const generation = this.#paths.length + 1;
    const path = new Path({
      node,
      generation,
      device: this.files === undefined ? `/dev/sim${generation}` : 'files',
      link: this.#links.get(node) ?? 'pass',
      volatile: this.#volatile,
    });
    this.#paths.push(path);
    return path;
  }

  /** The bookkeeping of a detach: nothing is cut. */
  unpublish(node: string): void {
    for (const path of this.pathsOf(node)) path.published = false;
  }

  /** Returns those paths that were not cut before. */
  cut(paths: readonly Path[]): readonly Path[] {
    const fresh = paths.filter((path) => !path.cut);
    for (const path of fresh) path.sever(this.#clock.nowUs);
    return fresh;
  }

  /** Sets the node's paths, present and later. */
  setLink(node: string, link: LinkState): void {
    this.#links.set(node, link);
    for (const path of this.pathsOf(node)) path.setLink(link, this.#clock.nowUs);
  }

  /** Cuts every path of a node, and decides what becomes of what was not flushed through them. */
  losePower(node: string, unflushed: PowerLoss): readonly Path[] {
    const fresh = this.cut(this.pathsOf(node));
    const lost = fresh.flatMap(({ undo }) => undo ?? []);
    if (lost.length === 0 || unflushed === 'keeps') return fresh;
    if (unflushed === 'drops') for (const undo of lost.toReversed()) undo();
    else this.damage ??= mixedPages;
    return fresh;
  }

  watchers(but: string): readonly Path[] {
    return this.others(but).filter((path) => path.watches(this.#clock.nowUs));
  }

  /** A dead node's cut device is let go of; where its attachment stands, a new one can be made. */
  renew(node: string): void {
    const held = this.published(node);
    if (held?.cut !== true) return;
    held.published = false;
    this.publish(node);
  }

  copy(): Image {
    const { rows, schemaChanged, canaries, damage, made, blank } = this;
    return {
      rows: rows.slice(),
      schemaChanged,
      canaries: Object.fromEntries(canaries),
      damage,
      made: blank ? undefined : made,
    };
  }
}
