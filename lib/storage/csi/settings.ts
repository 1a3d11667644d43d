/** What the driver's pods are told by their environment. */
import { z } from 'zod';
import { UsageError } from '../../core/index.ts';
import { defaultRoot, driverName } from './layout.ts';
import { parseLoopRange } from './loop-device.ts';

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
