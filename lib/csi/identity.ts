/** The CSI identity service: who the driver is, and what kubelet is told when it registers. */
import { access } from 'node:fs/promises';
import { type Identity, PluginCapability_Service_Type as Capability } from './gen/csi_pb.js';
import type { Registration } from './gen/pluginregistration_pb.js';
import type { Handlers } from './grpc.ts';
import { driverName } from './layout.ts';

/** The driver's own version; it is not published apart from the project. */
const vendorVersion = '0.1.0';

/** Ready while the shared directory answers. */
export const identity = (root: string): Handlers<typeof Identity> => ({
  getPluginInfo: async () => ({ name: driverName, vendorVersion }),
  getPluginCapabilities: async () => ({
    capabilities: [{ type: { case: 'service', value: { type: Capability.CONTROLLER_SERVICE } } }],
  }),
  probe: async () => {
    await access(root);
    return { ready: true };
  },
});

export interface Registrar {
  /** Socket of the CSI services as kubelet sees it. */
  readonly socket: string;
  /** Kubelet has made the driver known to Kubernetes. */
  readonly onRegistered: () => Promise<void>;
  /** Kubelet refused the driver, and says why. */
  readonly onRefused: (error: string) => void;
}

/** Kubelet's plugin registration, which others leave to a sidecar. */
export const registration = ({
  socket,
  onRegistered,
  onRefused,
}: Registrar): Handlers<typeof Registration> => ({
  getInfo: async () => ({
    type: 'CSIPlugin',
    name: driverName,
    endpoint: socket,
    supportedVersions: ['1.0.0'],
  }),
  notifyRegistrationStatus: async ({ pluginRegistered, error }) => {
    if (pluginRegistered) await onRegistered();
    else onRefused(error);
    return {};
  },
});
