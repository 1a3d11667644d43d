/**
 * The storage of a cluster that is not ours: our driver under foreign names, dynamic classes, and the
 * official provisioner. Pure but for the manifests' files.
 */
import type { KubernetesObject, V1CSIDriver } from '@kubernetes/client-node';
import { renderCsiManifests, type CsiManifestOptions } from '../../lib/kind/objects.ts';

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
  iolite: { detachMode: 'ack-early', cutAfterMs: '30000' },
  emerald: { detachMode: 'exclusive' },
  flint: { detachMode: 'reservation' },
  garnet: { detachMode: 'fence-if-out-of-service' },
  halite: { detachMode: 'shared-file' },
};

/** Class → a driver that is broken, or lies: of none of them a mode can be said. */
export const faultyClasses: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  jasper: { detachMode: 'fenced', detachAnswer: 'error' },
  kyanite: { detachMode: 'unfenced', detachAnswer: 'error' },
  lazulite: { detachMode: 'unfenced', detachAnswer: 'forgets' },
  malachite: { detachMode: 'unfenced', detachAnswer: 'never' },
  nephrite: { detachMode: 'fenced', stageAnswer: 'never' },
};

/** Class → who is to provide it: nobody is there, or volumes of one node. */
export const idleClasses: Readonly<Record<string, string>> = {
  opal: 'nobody.acme.example',
  pyrite: 'absent.acme.example',
  quartz: 'kubernetes.io/no-provisioner',
};

export async function strangerObjects(options: StrangerOptions): Promise<KubernetesObject[]> {
  const driver = await renderCsiManifests({ ...options, names: strangerNames });
  const objects = [...driver, absentDriver, ...classes()];
  return JSON.parse(
    JSON.stringify(objects).replaceAll('forcedetach-csi', `${vendor}-csi`),
  ) as KubernetesObject[];
}

/** It is told of, and its pods are nowhere. */
const absentDriver: V1CSIDriver = {
  ...{ apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver' },
  ...{ metadata: { name: 'absent.acme.example' }, spec: { attachRequired: true } },
};

function classes(): KubernetesObject[] {
  const ours = Object.entries({ ...strangerClasses, ...faultyClasses }).map(
    ([name, parameters]) => {
      const isShared = parameters['detachMode'] === 'shared-file';
      const provisioner = isShared ? strangerNames.files : strangerNames.disk;
      return { metadata: { name }, parameters, provisioner };
    },
  );
  const others = Object.entries(idleClasses).map(([name, provisioner]) => ({
    ...{ metadata: { name }, provisioner },
    ...(provisioner.startsWith('kubernetes.io/') && { volumeBindingMode: 'WaitForFirstConsumer' }),
  }));
  return [...ours, ...others].map((each) => ({
    ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', reclaimPolicy: 'Delete' },
    ...{ volumeBindingMode: 'Immediate', ...each },
  }));
}
