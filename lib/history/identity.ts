/** Which volume a run is about, how it came about, and which copy of it an audit opened: told by each who handles one. */
import { z } from 'zod';

/** The volume as it was when its database was new. */
export interface VolumeIdentity {
  /** Its handle at the backend. */
  readonly volume: string;
  /** Absent for a shared directory, which has no file system of its own. */
  readonly filesystemUuid?: string | undefined;
  /** Told by the server. */
  readonly serverUuid?: string;
  /** How it came about; absent where it was there before its claim. */
  readonly provisioning?: Provisioning;
}

/** Which copies of the volume a run makes. */
export type ImageLabel = 'steady' | 'first' | 'second';

/** One copy. Whoever makes it and whoever opens it tell the same of it, or it is not the same. */
export interface CopyIdentity {
  /** Drawn for this copy, and for no other. */
  readonly copy: string;
  /** Handle of the volume that was copied. */
  readonly volume: string;
  /** Generation of the volume's latest attachment by then; 0 for a shared directory, which has none. */
  readonly generation: number;
  readonly bytes: number;
  /** Which file it is, and when its content or its name last changed. */
  readonly stamp: string;
  /** Over a part of its content, which `copy` chooses. */
  readonly digest: string;
  /** Absent for a shared directory, and where the copy has no file system. */
  readonly filesystemUuid?: string | undefined;
}

/** How a volume came about that Kubernetes' provisioner made: who was asked for what, in which order. */
export const provisioningSchema = z.strictObject({
  storageClass: z.string(),
  claim: z.string(),
  /** Name of the PersistentVolume. */
  volumeName: z.string(),
  /** Read from the PersistentVolume. */
  handle: z.string(),
  /** Read from the PersistentVolume: the driver whose provisioner made it. */
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

export interface PodRef {
  readonly name: string;
  readonly uid: string;
  readonly node: string;
}
