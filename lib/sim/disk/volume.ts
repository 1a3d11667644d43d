/** The volume, the paths of nodes to it, what two writers do to it, and its copies. */
import { hash } from 'node:crypto';
import type { LedgerEntry, CopyIdentity, VolumeIdentity } from '../../history/index.ts';
import {
  type CallBook,
  type LinkState,
  watchTimeoutMs,
  type PowerLoss,
} from '../../scenario/index.ts';
import { Chance } from '../kernel.ts';
import { msUs, secondUs, type DurationRange, bytesPerCommit } from '../timings.ts';

const watchTimeoutUs = watchTimeoutMs * 1000;

interface PathOptions extends Pick<Path, 'node' | 'generation' | 'device'> {
  readonly link: LinkState;
  /** A disk that ignores flushes: what is written can be lost for as long as the path lives. */
  readonly volatile: boolean;
}

/** Called once: with true it is performed, with false it never will be. */
type PathRequest = (passes: boolean) => void;

/**
 * One node's way to the volume, as a loop device is on kind. Its link to the storage passes, stalls
 * (requests are held and answered in order once it passes again) or fails (each request is an I/O
 * error). A path that was cut stays cut, and what it is asked and what it held is refused, or held for ever.
 */
export class Path {
  readonly node: string;
  readonly generation: number;
  readonly device: string;
  /** The attachment is in force: a node may stage it. */
  published = true;
  mounted = false;
  /** Its file system takes no writes, and the image still counts it as a watcher. */
  readOnly = false;
  bytesWritten = 0;
  /** Called once when it is cut. */
  onCut: (() => void) | undefined;
  /** What undoes the writes of a volatile path, in their order; absent where they are durable. */
  readonly undo: (() => void)[] | undefined;
  #link: LinkState;
  #cut: 'no' | 'refuses' | 'hangs' = 'no';
  /** When it stops to count as a watcher of the image, once it is silent. */
  #watchEndsUs = Number.NEGATIVE_INFINITY;
  #held: PathRequest[] = [];

  constructor({ node, generation, device, link, volatile }: PathOptions) {
    this.node = node;
    this.generation = generation;
    this.device = device;
    this.#link = link;
    this.undo = volatile ? [] : undefined;
  }

  get cut(): boolean {
    return this.#cut !== 'no';
  }

  get held(): number {
    return this.#held.length;
  }

  /** Mounted for writing, and its writes reach the disk. */
  get writes(): boolean {
    return this.mounted && !this.readOnly && !this.cut && this.#link === 'pass';
  }

  watches(nowUs: number): boolean {
    return this.#isThere || nowUs < this.#watchEndsUs;
  }

  get #isThere(): boolean {
    return this.mounted && !this.cut && this.#link === 'pass';
  }

  /** A clean unmount takes its watch back at once. */
  unmount(): void {
    this.mounted = false;
    this.#watchEndsUs = Number.NEGATIVE_INFINITY;
  }

  submit(request: PathRequest): void {
    const waits = this.#cut === 'hangs' || (this.#link === 'stall' && !this.cut);
    if (waits) this.#held.push(request);
    else request(this.#link === 'pass' && !this.cut);
  }

  setLink(link: LinkState, nowUs: number): void {
    if (this.#isThere && link !== 'pass') this.#watchEndsUs = nowUs + watchTimeoutUs;
    this.#link = link;
    this.#submitHeld();
  }

  /** For ever. One that hangs may be refused later. */
  sever(nowUs: number, hangs: boolean): void {
    if (this.#cut === 'refuses' || (this.cut && hangs)) return;
    if (this.#isThere) this.#watchEndsUs = nowUs + watchTimeoutUs;
    this.#cut = hangs ? 'hangs' : 'refuses';
    this.#submitHeld();
    if (!hangs) this.onCut?.();
  }

  #submitHeld(): void {
    const held = this.#held;
    this.#held = [];
    for (const request of held) this.submit(request);
  }
}

/**
 * Joint writing until a tree is broken. Rows alone were lost after 5.4 s of it (1 run); a tree was
 * broken by 21.6 s and later in 12 of 12 (docs/reference/disk-modes.md, docs/reference/workloads.md).
 */
const breaksAfter: DurationRange = { minUs: 4 * secondUs, maxUs: 22 * secondUs };

/** Two servers that commit within this time of each other write jointly; assumption. */
const jointWithinUs = 2000 * msUs;

/**
 * A replaced server that still writes back: beside a running successor it broke a tree in 12 of 13
 * runs; after a successor that had stopped cleanly in 3 of 7, otherwise it silently took all rows
 * of the successor (research/two-kernels, cases `idle-…` and `zombie`, and loop devices before them).
 */
const writeBackBreaks = { besideSuccessor: 12 / 13, afterSuccessor: 3 / 7 } as const;

/**
 * A server that recovers beside one that commits reads pages that were written after the end of its
 * redo log (MY-012562, MY-011971): whether they are pages that it cannot go on without (undo, an index
 * half written) is a race with the other's page cleaner. It lost 15 of 41: 3 of 9 at 1 commit a second,
 * 12 of 32 at 2 or 25, at any age of the victim, whatever it wrote meanwhile (2.4 to 15 MiB); none
 * of the 15 committed again (reports/matrix, reports/samples, reports/boundary). Not counted and alike:
 * 4 of 8 that wrote, 0 of 25 that did not (research/two-kernels). Beyond so many commits during one
 * recovery it never started: at 1,300 a second; where between that ends is not known.
 */
const recovery = { breaks: 15 / 41, alwaysBeyond: 500 } as const;

/**
 * What two servers on one volume do to its structure, beyond overwriting each other's rows. Each
 * writes pages of trees that it alone knows. How soon that breaks a tree was measured, not derived:
 * so it is drawn from what runs on kind, on loop devices and in virtual machines showed.
 */
export class TwoWriters {
  readonly #chance: Chance;
  readonly #breaksAfterUs: number;
  /** When each writer committed last. */
  readonly #lastUs = new Map<object, number>();
  #lastOfAllUs = 0;
  #jointUs = 0;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.#breaksAfterUs = chance.within(breaksAfter);
  }

  /** A commit reached the disk. Returns what it broke. */
  commit(writer: object, nowUs: number): string | undefined {
    for (const [other, atUs] of this.#lastUs) {
      if (other !== writer && nowUs - atUs <= jointWithinUs) {
        this.#jointUs += nowUs - this.#lastOfAllUs;
        break;
      }
    }
    this.#lastUs.set(writer, nowUs);
    this.#lastOfAllUs = nowUs;
    if (this.#jointUs <= this.#breaksAfterUs) return undefined;
    return 'Corruption of an index tree: its pages are of two servers (model)';
  }

  /** A server has recovered while others committed so much. Returns what of it can't be read. */
  recover(foreignCommits: number): string | undefined {
    if (foreignCommits === 0) return undefined;
    const isRaced = foreignCommits <= recovery.alwaysBeyond;
    if (isRaced && this.#chance.float() >= recovery.breaks) return undefined;
    return 'the redo log changed under recovery: log sequence number is in the future (model)';
  }

  /** A replaced writer put all its pages on the disk. Returns what that broke. */
  writeBack(successor: 'beside' | 'gone'): string | undefined {
    const { besideSuccessor, afterSuccessor } = writeBackBreaks;
    const likely = successor === 'beside' ? besideSuccessor : afterSuccessor;
    if (this.#chance.float() >= likely) return undefined;
    return 'log sequence number is in the future: pages of a replaced server (model)';
  }
}

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

/**
 * The volume and the paths of nodes to it: one path (a device) per attachment, each with its own
 * generation. A new attachment makes a new path.
 */
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
  made = 0;
  /** How calls about it are answered. Undefined: by their work. */
  calls: CallBook | undefined;
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

  /** `hangs`: nothing is answered any more. Returns those paths that were not cut before. */
  cut(paths: readonly Path[], hangs = false): readonly Path[] {
    const fresh = paths.filter((path) => !path.cut);
    for (const path of paths) path.sever(this.#clock.nowUs, hangs);
    return fresh;
  }

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

/** A copy as it lies in the copies' folder, with its label. */
export interface SimCopy {
  readonly image: Image;
  readonly made: CopyIdentity;
}

/** File system and database number `made` of the model's volume. */
export const uuidOf = (made: number): string => `model-${made}`;

export const identityOf = ({ made, name }: Pick<Volume, 'made' | 'name'>): VolumeIdentity => ({
  volume: name,
  filesystemUuid: uuidOf(made),
  serverUuid: uuidOf(made),
});

/** `number`: counts the run's copies. */
export const labelled = (image: Image, volume: Volume, number: number): CopyIdentity => ({
  copy: `model-${number}`,
  volume: volume.name,
  generation: volume.files === undefined ? volume.paths.length : 0,
  stamp: `model-${number}`,
  ...contentOf(image),
});

/** What whoever opens the copy finds. */
export const opened = ({ image, made }: SimCopy): CopyIdentity => ({
  ...made,
  ...contentOf(image),
});

function contentOf({
  rows,
  canaries,
  made,
}: Image): Pick<CopyIdentity, 'bytes' | 'digest' | 'filesystemUuid'> {
  const names = rows.map((row) => row?.hash ?? '-');
  return {
    bytes: rows.length * bytesPerCommit,
    digest: hash('sha256', JSON.stringify([names, canaries, made])),
    ...(made === undefined ? {} : { filesystemUuid: uuidOf(made) }),
  };
}
