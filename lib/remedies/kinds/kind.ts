/** What a remedy says of itself; how it is done and undone is in the file of its name beside this folder. */
import type { KindDeclaration } from '../../fields/of-kinds.ts';

interface RemedyDeclaration extends KindDeclaration {
  /** What it takes away, or acts on first; `path`: the node's way to the volume. */
  readonly on: 'nothing' | 'pod' | 'node' | 'attachment' | 'path';
  /** Sets the out-of-service taint. */
  readonly taints?: true;
  /** The pod's object goes, although no kubelet confirms that the pod has stopped. */
  readonly removesPodObject?: true;
  /** What is done; Markdown, for the page. */
  readonly does: string;
}

export const remedyKind = <const Remedy extends RemedyDeclaration>(remedy: Remedy): Remedy =>
  remedy;
