/**
 * The storage of a cluster that is not ours: our driver under foreign names, dynamic classes, and the
 * official provisioner. Pure but for the manifests' files.
 */
import type { KubernetesObject, V1Container, V1Deployment } from '@kubernetes/client-node';
import { renderCsiManifests, type CsiManifestOptions } from './create/csi-manifests.ts';
import { readManifest } from './create/manifest.ts';

export interface StrangerOptions extends Omit<CsiManifestOptions, 'names'> {
  readonly provisionerImage: string;
}

/** Nothing is known of a vendor of this name. */
const vendor = 'acme';
export const strangerNames = { disk: 'block.acme.example', files: 'share.acme.example' };

/** Class → what its volumes do: the truth, which the probe is not told. */
export const strangerClasses: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  amber: { detachMode: 'unfenced' },
  basalt: { detachMode: 'fenced' },
  cobalt: { detachMode: 'pending-while-busy' },
  dolomite: { detachMode: 'ack-early', cutAfterMs: '5000' },
  emerald: { detachMode: 'exclusive' },
  flint: { detachMode: 'reservation' },
  garnet: { detachMode: 'fence-if-out-of-service' },
  halite: { detachMode: 'shared-file' },
};

export async function strangerObjects(options: StrangerOptions): Promise<KubernetesObject[]> {
  const driver = await renderCsiManifests({ ...options, names: strangerNames });
  const rights = await readManifest('stranger/provisioner.yaml', {});
  const classes = Object.entries(strangerClasses).map(([name, parameters]) => ({
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name }, parameters },
    provisioner:
      parameters['detachMode'] === 'shared-file' ? strangerNames.files : strangerNames.disk,
    ...{ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
  }));
  const objects = [...driver, ...rights, ...classes];
  addProvisioner(objects, options.provisionerImage);
  return JSON.parse(
    JSON.stringify(objects).replaceAll('forcedetach-csi', `${vendor}-csi`),
  ) as KubernetesObject[];
}

/** As the manifest has it: no instance of the client's class. */
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
