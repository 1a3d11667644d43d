/** What the driver's pods are told by their environment. */
import { z } from 'zod';
import { UsageError } from '../errors.ts';
import { defaultRoot } from './layout.ts';
import { parseLoopRange } from './loop-range.ts';

const schema = z.object({
  /** Name of the Kubernetes node. */
  NODE_NAME: z.string().min(1),
  /** Socket of the CSI services. */
  CSI_SOCKET: z.string().startsWith('/'),
  /** Where kubelet looks for plugins that register themselves; not registered without it. */
  CSI_REGISTRATION_SOCKET: z.string().startsWith('/').optional(),
  /** Written once kubelet took the driver; a readiness probe looks for it. */
  CSI_REGISTERED_FILE: z.string().startsWith('/').optional(),
  /** Numbers of the loop devices leased to the cluster; only the controller hands them out. */
  FORCEDETACH_LOOPS: z.string().transform(parseLoopRange).optional(),
  /** The shared directory. */
  FORCEDETACH_ROOT: z.string().startsWith('/').default(defaultRoot),
});
export type Settings = z.infer<typeof schema>;

export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  const parsed = schema.safeParse(environment);
  if (parsed.success) return parsed.data;
  throw new UsageError('BAD_SETTINGS', z.prettifyError(parsed.error), {
    hint: 'The driver is set up by its environment; see manifests/csi.',
  });
}
