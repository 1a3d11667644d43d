/**
 * What a remedy is, as data: its words, its traits and its effect. The run (lib/run/remedies.ts) and the
 * sweep (lib/sweep/play.ts) carry the same effect out.
 */
import type { KindDeclaration } from '../kinds.ts';

export type RemedyAct =
  | 'delete pod'
  | 'force-delete pod'
  | 'strip pod finalizers'
  | 'restart rollout'
  | 'taint out-of-service'
  | 'untaint'
  | 'cut paths'
  | 'power off'
  | 'delete node'
  | 'register node'
  | 'drain'
  | 'uncordon'
  | 'delete attachments'
  | 'strip attachments';

export interface RemedyDeclaration extends KindDeclaration {
  /** What it takes away, or acts on first; `path`: the node's way to the volume. */
  readonly on: 'nothing' | 'pod' | 'node' | 'attachment' | 'path';
  /** One after the other. */
  readonly acts: readonly RemedyAct[];
  /** Takes back what would outlive the run. Idempotent; absent where nothing does. */
  readonly undo?: RemedyAct;
  /** Sets the out-of-service taint. */
  readonly taints?: true;
  /** The pod's object goes, although no kubelet confirms that the pod has stopped. */
  readonly removesPodObject?: true;
  /** Once it has acted nothing runs on the victim until the heal, which switches it on. */
  readonly endsMachine?: true;
  /** A clause for the report. */
  readonly words: string;
  /** What is done; Markdown, for the page. */
  readonly does: string;
}

export const remedyKind = <const Remedy extends RemedyDeclaration>(remedy: Remedy): Remedy =>
  remedy;
