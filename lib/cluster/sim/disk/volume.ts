/**
 * The volume and the paths of nodes to it: one path (a device) per attachment, each with its own
 * generation. A path that was cut stays cut; a new attachment makes a new one.
 */
import type { LedgerEntry } from '../../../workload/sql.ts';

/** The volume's content: the ledger as its primary key gives it, and what else an audit looks at. */
export interface Image {
  /** By position; a later write to a position stands. Two writers can leave gaps. */
  readonly rows: readonly (LedgerEntry | undefined)[];
  readonly canaries: Readonly<Record<string, string>>;
  /** Why no server can start on it any more, in a server's own words. */
  readonly damage: string | undefined;
}

/** One node's way to the volume, as a loop device is on kind. */
export interface Path {
  readonly node: string;
  readonly generation: number;
  readonly device: string;
  /** The attachment is in force: a node may stage it. */
  published: boolean;
  cut: boolean;
  bytesWritten: number;
  /** Called once when it is cut. */
  onCut: (() => void) | undefined;
}

export class Volume {
  rows: (LedgerEntry | undefined)[] = [];
  readonly canaries: Record<string, string> = {};
  damage: string | undefined;
  /** The file system's journal has nothing to replay: it was unmounted last, not cut off. */
  clean = true;
  /** Durable commits of all servers ever. */
  commits = 0;
  readonly #paths: Path[] = [];

  get paths(): readonly Path[] {
    return this.#paths;
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
    const path: Path = {
      node,
      generation,
      device: `/dev/sim${generation}`,
      published: true,
      cut: false,
      bytesWritten: 0,
      onCut: undefined,
    };
    this.#paths.push(path);
    return path;
  }

  /** Ends the attachment; a fenced disk cuts it first. Returns the paths that were cut. */
  unpublish(node: string, fenced: boolean): readonly Path[] {
    const cut = fenced ? this.cut(node) : [];
    for (const path of this.#paths) if (path.node === node) path.published = false;
    return cut;
  }

  /** Cuts every path of a node; returns those that were not cut before. */
  cut(node: string): readonly Path[] {
    const fresh = this.#paths.filter((path) => path.node === node && !path.cut);
    for (const path of fresh) {
      path.cut = true;
      path.onCut?.();
    }
    return fresh;
  }

  /** A dead node's cut device is let go of; where its attachment stands, a new one can be made. */
  renew(node: string): void {
    const held = this.published(node);
    if (held?.cut !== true) return;
    held.published = false;
    this.publish(node);
  }

  copy(): Image {
    const { rows, canaries, damage } = this;
    return { rows: rows.slice(), canaries: { ...canaries }, damage };
  }
}
