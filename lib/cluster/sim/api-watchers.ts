/** Who hears of the model's API objects: actors as they change, observers in words, sweeps in integers. */
import type { ObservedName } from '../../history/observations.ts';
import type { AttachmentObject, NodeObject, PodObject } from './api-objects.ts';
import type { Kernel } from './kernel.ts';
import type { Notify } from './notices.ts';

/** Who is told of changes, each of its kind; the objects are as they are after the change. */
export interface ApiWatcher {
  node?(node: NodeObject): void;
  /** Its lease is renewed again, or no longer. */
  lease?(node: NodeObject): void;
  pod?(pod: PodObject): void;
  attachment?(attachment: AttachmentObject): void;
}

export interface Sighting {
  /** Name in lib/history/observations.ts; a server's log by its program. */
  readonly source: string;
  readonly name: ObservedName;
  readonly node?: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Number of the volume that it is of. Default: it is of the cluster or a node. */
  readonly volume?: number;
  /** Default: now. */
  readonly atUs?: number;
}

export interface Lookout {
  readonly kernel: Kernel;
  readonly see: ((sighting: Sighting) => void) | undefined;
  readonly notice: Notify;
}
