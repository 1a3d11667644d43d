/** The driver's Kubernetes objects: manifests/csi with a cluster's images and numbers filled in. */
import type { KubernetesObject, V1Container, V1Deployment } from '@kubernetes/client-node';
import { driverName, filesDriverName } from '../../../csi/layout.ts';
import { driverLoopsOf } from '../ownership/lease.ts';
import { readManifest } from './manifest.ts';

export interface CsiManifestOptions {
  /** Images as the nodes have them. */
  readonly driverImage: string;
  readonly attacherImage: string;
  /** The official external-provisioner. Default: nobody makes volumes. */
  readonly provisionerImage?: string | undefined;
  /** The range of the cluster's lease. */
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
  const { provisionerImage } = options;
  const rights = provisionerImage === undefined ? [] : ['csi/provisioner.yaml'];
  const files = ['csi/driver.yaml', ...rights, 'csi/controller.yaml', 'csi/node.yaml'];
  const objects = (await Promise.all(files.map((file) => readManifest(file, values)))).flat();
  if (provisionerImage !== undefined) addProvisioner(objects, provisionerImage);
  return objects;
}

/** An object as the manifest has it: no instance of the client's class. */
type Plain<T> = { [K in keyof T]: T[K] };

/** Beside the attacher, on the same socket. */
function addProvisioner(objects: readonly KubernetesObject[], image: string): void {
  const { spec } = objects.find(({ kind }) => kind === 'Deployment') as V1Deployment;
  const containers = spec?.template.spec?.containers as Plain<V1Container>[];
  const [attacher] = containers;
  if (attacher === undefined) return;
  containers.push({
    ...{ ...attacher, name: 'provisioner', image },
    args: [
      '--csi-address=/csi/csi.sock',
      '--v=3',
      '--default-fstype=ext4',
      '--retry-interval-max=10s',
    ],
  });
}
