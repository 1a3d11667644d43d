/** How a volume came about that Kubernetes' provisioner made: who was asked for what, in which order. */
import { z } from 'zod';

export const provisioningSchema = z.strictObject({
  storageClass: z.string(),
  claim: z.string(),
  /** Of the PersistentVolume. */
  volumeName: z.string(),
  /** As the PersistentVolume has it. */
  handle: z.string(),
  /** As the PersistentVolume has it: the driver whose provisioner made it. */
  by: z.string(),
  /** The driver's calls about it until its database was Ready, in the order in which they came in. */
  calls: z.array(
    z.strictObject({
      /** RPC name. */
      call: z.string(),
      node: z.string(),
      /** Run time when it came in. */
      t: z.number(),
      durationMs: z.number(),
      error: z.string().optional(),
    }),
  ),
});
export type Provisioning = Readonly<z.output<typeof provisioningSchema>>;
