/** What the cluster needs from the image layer, the same for published and built images. */

export type ImageSource = 'published' | 'built';

export interface ImageOrigin {
  readonly source: ImageSource;
  /** `host` or `host:port` that holds what this checkout would build. Default: official images. */
  readonly registry?: string | undefined;
}

/** Where they come from in the end. */
export interface SourceChoice extends ImageOrigin {
  readonly reason: string;
}

/** Whose programs are in them: ours, compiled from modules, or those of the official images. */
export const madeBy = ({ source, registry }: ImageOrigin): ImageSource =>
  registry === undefined ? source : 'built';

export interface ImageSet {
  readonly source: ImageSource;
  /** Without the leading `v`, e.g. `1.37.2`. */
  readonly kubernetesVersion: string;
  /** What all clusters of this version have. */
  readonly node: string;
  /**
   * Reference for `kind create cluster --image`: the node, and what of `load` is in it already. A
   * cluster that was made with another one is as good.
   */
  readonly creation: { readonly node: string; readonly has: readonly string[] };
  /** References that every node must have; the others are in it from the beginning. */
  readonly load: readonly string[];
  /** References as the pods name them. */
  readonly database: string;
  readonly attacher: string;
  /** Only where volumes are to be provisioned. */
  readonly provisioner?: string;
  readonly driver: string;
  /** Runs beside the cluster on the engine: the program of lib/storage/csi/array and nothing else. */
  readonly array: string;
  /** Runs beside the cluster on the engine: Node, the server, its tools, e2fsprogs, losetup, socat, perl. */
  readonly tools: string;
  /** Image id by name (`node`, `driver`, …): recorded in each report. */
  readonly ids: Readonly<Record<string, string>>;
  /** Whether the controller manager takes its force-detach wait from FORCEDETACH_MAX_WAIT_FOR_UNMOUNT. */
  readonly tunableForceDetach: boolean;
}
