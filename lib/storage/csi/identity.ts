/** The CSI identity service: who the driver is, and what kubelet hears when it registers. */
import { access } from 'node:fs/promises';
import {
  type Identity,
  PluginCapability_Service_Type as Capability,
  PluginCapability_VolumeExpansion_Type as Expansion,
} from './gen/csi_pb.js';
import type { Registration } from './gen/pluginregistration_pb.js';
import type { Handlers } from './grpc.ts';

export interface DriverIdentity {
  readonly name: string;
  /** Whether volumes are attached and provisioned by a controller. */
  readonly hasController: boolean;
}

/** Ready while the shared directory answers. */
export const identity = (root: string, driver: DriverIdentity): Handlers<typeof Identity> => ({
  // The version is the driver's own; it is not published apart from the project.
  getPluginInfo: async () => ({ name: driver.name, vendorVersion: '0.1.0' }),
  getPluginCapabilities: async () => {
    if (!driver.hasController) return { capabilities: [] };
    const service = { type: Capability.CONTROLLER_SERVICE };
    const volumeExpansion = { type: Expansion.OFFLINE };
    return {
      capabilities: [
        { type: { case: 'service', value: service } },
        { type: { case: 'volumeExpansion', value: volumeExpansion } },
      ],
    };
  },
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
export const registration = (registrar: Registrar): Handlers<typeof Registration> => ({
  getInfo: async () => ({
    ...{ type: 'CSIPlugin', name: registrar.name, endpoint: registrar.socket },
    supportedVersions: ['1.0.0'],
  }),
  notifyRegistrationStatus: async ({ pluginRegistered, error }) => {
    if (pluginRegistered) await registrar.onRegistered();
    else registrar.onRefused(error);
    return {};
  },
});
