/** What is known when a mode of disk decides, and what it is decided about. */
import type { Notes } from '../grpc.ts';
import type { Backend, Target } from '../paths.ts';
import type { Attachment } from '../record.ts';
import type { VolumeAttributes } from '../volume-attributes.ts';

/** What is known of the nodes by those who may ask Kubernetes. */
export interface NodeTaints {
  /** Keys of the node's taints; none where there is no such node. Rejects where asking fails. */
  keysOf(node: string): Promise<readonly string[]>;
}

export interface ModeRequest extends Target {
  readonly backend: Backend;
  readonly attributes: VolumeAttributes;
  /** For the call log: what was found, and so decided. */
  readonly notes: Notes;
}

export interface DetachRequest extends ModeRequest {
  /** What is to be taken from the node; a later attachment of the node is not meant. */
  readonly attachment: Attachment;
  readonly taints: NodeTaints;
}
