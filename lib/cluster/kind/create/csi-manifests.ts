/** The driver's Kubernetes objects: manifests/csi with a cluster's images and numbers filled in. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { driverName, filesDriverName } from '../../../csi/layout.ts';
import { driverLoopsOf } from '../ownership/lease.ts';
import { readManifest } from './manifest.ts';

export interface CsiManifestOptions {
  /** Images as the nodes have them. */
  readonly driverImage: string;
  readonly attacherImage: string;
  /** Of the cluster's lease. */
  readonly loops: { readonly first: number; readonly count: number };
  /** The shared directory, the same path on each node. */
  readonly sharedDir: string;
  /** By which Kubernetes knows the two drivers. Default: our own. */
  readonly names?: { readonly disk: string; readonly files: string };
}

/** In the order to apply them. */
export async function renderCsiManifests(options: CsiManifestOptions): Promise<KubernetesObject[]> {
  const { disk = driverName, files: shared = filesDriverName } = options.names ?? {};
  const values = {
    DRIVER: disk,
    FILES_DRIVER: shared,
    DRIVER_IMAGE: options.driverImage,
    ATTACHER_IMAGE: options.attacherImage,
    LOOPS: driverLoopsOf(options.loops),
    SHARED: options.sharedDir,
  };
  const files = ['csi/driver.yaml', 'csi/controller.yaml', 'csi/node.yaml'];
  return (await Promise.all(files.map((file) => readManifest(file, values)))).flat();
}
