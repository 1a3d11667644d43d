/** What a kind of disk decides by itself: whether a node may open a path, and what a detach does. */
import type { DiskMode } from '../../disk-kinds.ts';
import type { Notes } from '../grpc.ts';
import type { Backend, CutDevice, Target } from '../paths.ts';
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

export interface DetachMode {
  readonly name: DiskMode;
  /** Before a new attachment is recorded. Throws a CallError where there may be none. */
  attach?(request: ModeRequest): Promise<void>;
  /** Before the node's path is opened. Throws a CallError where it may not be. */
  stage?(request: ModeRequest): Promise<void>;
  /** Before the record says detached; throws a CallError where it may not. Resolves to what it cut. */
  detach(request: DetachRequest): Promise<readonly CutDevice[]>;
}
