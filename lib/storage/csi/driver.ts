/** The CSI identity service: who the driver is, what its environment sets, and what kubelet hears when it registers. */
import { access } from 'node:fs/promises';
import { z } from 'zod';
import { exitCode, UsageError } from '../../core/index.ts';
import { defaultRoot, driverName } from './layout.ts';
import { parseLoopRange } from './devices.ts';
import {
  type Identity,
  PluginCapability_Service_Type as Capability,
  PluginCapability_VolumeExpansion_Type as Expansion,
} from './gen/csi_pb.js';
import type { Registration } from './gen/pluginregistration_pb.js';
import type { Handlers } from './grpc.ts';

const schema = z.object({
  /** By which Kubernetes knows the disk's driver. */
  CSI_DRIVER_NAME: z.string().min(1).default(driverName),
  /** Name of the Kubernetes node. */
  NODE_NAME: z.string().min(1),
  /** Socket of the CSI services. */
  CSI_SOCKET: z.string().startsWith('/'),
  /** Where kubelet looks for plugins that register themselves; not registered without it. */
  CSI_REGISTRATION_SOCKET: z.string().startsWith('/').optional(),
  /** The same two sockets of the driver of shared directories; not served without them. */
  CSI_FILES_SOCKET: z.string().startsWith('/').optional(),
  CSI_FILES_REGISTRATION_SOCKET: z.string().startsWith('/').optional(),
  /** Written once kubelet took every driver; a readiness probe looks for it. */
  CSI_REGISTERED_FILE: z.string().startsWith('/').optional(),
  /** Numbers of the loop devices leased to the cluster; only the controller hands them out. */
  FORCEDETACH_LOOPS: z.string().transform(parseLoopRange).optional(),
  /** Whom the controller asks for a node's taints. */
  KUBERNETES_SERVICE_HOST: z.string().min(1).optional(),
  KUBERNETES_SERVICE_PORT: z.coerce.number().int().positive().default(443),
  /** The shared directory. */
  FORCEDETACH_ROOT: z.string().startsWith('/').default(defaultRoot),
});
export type DriverSettings = z.infer<typeof schema>;

export function readDriverSettings(environment: NodeJS.ProcessEnv): DriverSettings {
  const parsed = schema.safeParse(environment);
  if (parsed.success) return parsed.data;
  throw new UsageError('BAD_SETTINGS', z.prettifyError(parsed.error), {
    hint: 'The driver is set up by its environment; see manifests/csi.',
  });
}

interface DriverIdentity {
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

interface Registrar {
  /** The driver's name. */
  readonly name: string;
  /** Socket of the CSI services as kubelet sees it. */
  readonly socket: string;
  /** Kubelet has made the driver known to Kubernetes. */
  readonly onRegistered: () => Promise<void>;
}

/** Kubelet's plugin registration, which others leave to a sidecar. */
export const registration = (registrar: Registrar): Handlers<typeof Registration> => ({
  getInfo: async () => ({
    ...{ type: 'CSIPlugin', name: registrar.name, endpoint: registrar.socket },
    supportedVersions: ['1.0.0'],
  }),
  notifyRegistrationStatus: async ({ pluginRegistered, error }) => {
    if (pluginRegistered) await registrar.onRegistered();
    else {
      // A new process makes new sockets, and kubelet asks again.
      console.error(`kubelet refused the driver: ${error}`);
      process.exit(exitCode.infrastructure);
    }
    return {};
  },
});
