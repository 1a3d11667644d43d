/** The CSI identity service: who the driver is, and what kubelet is told when it registers. */
import { access } from 'node:fs/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  type Identity,
  type PluginCapabilitySchema,
  PluginCapability_Service_Type as Capability,
  PluginCapability_VolumeExpansion_Type as Expansion,
} from './gen/csi_pb.js';
import type { Registration } from './gen/pluginregistration_pb.js';
import type { Handlers } from './grpc.ts';

/** The driver's own version; it is not published apart from the project. */
const vendorVersion = '0.1.0';

export interface DriverIdentity {
  readonly name: string;
  /** Whether volumes are attached and provisioned by a controller. */
  readonly hasController: boolean;
}

const controllerCapabilities: MessageInitShape<typeof PluginCapabilitySchema>[] = [
  { type: { case: 'service', value: { type: Capability.CONTROLLER_SERVICE } } },
  { type: { case: 'volumeExpansion', value: { type: Expansion.OFFLINE } } },
];

/** Ready while the shared directory answers. */
export const identity = (root: string, driver: DriverIdentity): Handlers<typeof Identity> => ({
  getPluginInfo: async () => ({ name: driver.name, vendorVersion }),
  getPluginCapabilities: async () => ({
    capabilities: driver.hasController ? controllerCapabilities : [],
  }),
  probe: async () => {
    await access(root);
    return { ready: true };
  },
});

export interface Registrar {
  /** The driver's name. */
  readonly name: string;
  /** Socket of the CSI services as kubelet sees it. */
  readonly socket: string;
  /** Kubelet has made the driver known to Kubernetes. */
  readonly onRegistered: () => Promise<void>;
  /** Kubelet refused the driver, and says why. */
  readonly onRefused: (error: string) => void;
}

/** Kubelet's plugin registration, which others leave to a sidecar. */
export const registration = ({
  name,
  socket,
  onRegistered,
  onRefused,
}: Registrar): Handlers<typeof Registration> => ({
  getInfo: async () => ({
    type: 'CSIPlugin',
    name,
    endpoint: socket,
    supportedVersions: ['1.0.0'],
  }),
  notifyRegistrationStatus: async ({ pluginRegistered, error }) => {
    if (pluginRegistered) await onRegistered();
    else onRefused(error);
    return {};
  },
});
