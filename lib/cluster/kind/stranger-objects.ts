/**
 * The storage of a cluster that is not ours: our driver under foreign names, dynamic classes, and the
 * official provisioner. Pure but for the manifests' files.
 */
import type { KubernetesObject } from '@kubernetes/client-node';
import { renderCsiManifests, type CsiManifestOptions } from './create/csi-manifests.ts';

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
  const classes = Object.entries(strangerClasses).map(([name, parameters]) => ({
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', metadata: { name }, parameters },
    provisioner:
      parameters['detachMode'] === 'shared-file' ? strangerNames.files : strangerNames.disk,
    ...{ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' },
  }));
  const objects = [...driver, ...classes];
  return JSON.parse(
    JSON.stringify(objects).replaceAll('forcedetach-csi', `${vendor}-csi`),
  ) as KubernetesObject[];
}
