/**
 * What a mode of disk decides, at three moments. The driver (lib/storage/csi/backend.ts) and the model
 * (lib/sim/disk/modes.ts) both read it from here, and carry it out.
 */
import type { KindDeclaration } from '../kinds.ts';

/** While this holds, the answer is an error, and whoever asked asks again. */
export type RefusalReason =
  /** The node has the volume mounted and is not cut off. A dead node has nothing mounted. */
  | 'node-has-it-mounted'
  | 'other-has-it-mounted'
  /** Another node has it open, or fell silent less than 30 s ago. */
  | 'other-watches';

/** When a detach cuts the node off. */
export type CutTime =
  /** Then it answers. */
  | 'before-answer'
  /** `cutAfter` after its answer. */
  | 'after-answer'
  /** Before its answer, where the node carries the out-of-service taint; else it is bookkeeping. */
  | 'where-out-of-service';

export interface DiskModeDeclaration<Name extends string = string> extends KindDeclaration {
  readonly name: Name;
  /** When another node is to get the volume; fits after `your storage`. */
  readonly does: string;
  /** For the page alone; Markdown. */
  readonly more?: string;
  /** Before an attachment is recorded. A storage that grants `attachWhileBusy` refuses none. */
  readonly attach?: { readonly refusedWhile: RefusalReason };
  /** Before the node's path is opened. */
  readonly stage?: {
    readonly refusedWhile?: RefusalReason;
    /** All other nodes are cut off. */
    readonly cutsOthers?: true;
  };
  /** Before the record says detached. Absent: a detach is bookkeeping. */
  readonly detach?: { readonly refusedWhile?: RefusalReason; readonly cuts: CutTime };
  /** A shared directory, which nobody attaches: nothing of the above is ever asked. */
  readonly isDirectory?: true;
}

export const diskMode = <const Mode extends DiskModeDeclaration>(mode: Mode): Mode => mode;
