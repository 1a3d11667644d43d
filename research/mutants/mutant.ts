/** What a mutant is: a kind of damage, how it is planted, and what it must be called. */
import type { JournaledOp, EpochBounds } from '../../lib/judge/index.ts';
import type { DamageClass } from './damage-class.ts';
import type { AuditedCopy } from './mutant-case.ts';
import type { BareVolume } from '../../test/cluster/bare-volume.ts';
import type { Base, BaseName } from './bases.ts';
import type { Workshop } from './workshop.ts';

export interface Mutant {
  /** Kebab-case. */
  readonly name: string;
  /** What is done, one line for people. */
  readonly shows: string;
  /** The clean twin that it is a copy of. */
  readonly base: BaseName;
  readonly damageClass: DamageClass;
  plant(plot: Plot): Promise<Planted>;
}

/** Where one mutant is planted. */
export interface Plot {
  readonly workshop: Workshop;
  readonly base: Base;
  /** A copy of the base's volume, not attached. */
  readonly volume: BareVolume;
}

export interface Planted {
  /** How the damage is proven to be there, without the audit. */
  readonly proof: Proof;
  /** What the clients were told, where it is not the base's. */
  readonly ops?: readonly JournaledOp[];
  readonly moments?: EpochBounds;
  /** The volumes to audit, in the order of their images. Default: the planted one alone; none
   * where only the history is damaged, whose images are the twin's. */
  readonly images?: readonly BareVolume[];
  /** Changes what the audit brought home: damage of the history. Default: nothing. */
  readonly alter?: (copies: readonly AuditedCopy[]) => readonly AuditedCopy[];
}

export type Proof =
  /** These files' bytes differ from the twin's, and still do after MySQL's recovery of both. */
  | { readonly by: 'files'; readonly files: readonly string[] }
  /** The same, and MySQL's answer to the query differs after recovery. */
  | { readonly by: 'query'; readonly files: readonly string[]; readonly query: string }
  /** The image's bytes differ, and still do after the journal's replay. */
  | { readonly by: 'image' }
  /** Records differ from the twin's history. */
  | { readonly by: 'history' }
  /** What happened itself is the proof. */
  | { readonly by: 'events'; readonly proven: boolean; readonly seen: string };

export function olderOf({ name, older }: Base): BareVolume {
  if (older === undefined) throw new Error(`no older state of ${name} was kept`);
  return older;
}

/** What the proof came to. */
export interface Effect {
  readonly proven: boolean;
  /** Bytes that differ right after planting; absent where no byte of the volume was planted. */
  readonly bytesChanged?: number;
  /** Of them, how many differ after recovery still. */
  readonly bytesLeft?: number;
  /** One line for people. */
  readonly seen: string;
}
