/** What requests must hold before anything is done, with the codes that the CSI specification asks, and what they ask of the disk. */
import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import { CallError } from './grpc.ts';
import { type VolumeCapability, VolumeCapability_AccessMode_Mode as Mode } from './gen/csi_pb.js';
import { isName } from './layout.ts';
import { diskModes, revocations, transports } from '../../scenario/index.ts';

export function needed(name: string, value: string): string {
  if (value === '') throw new CallError(status.INVALID_ARGUMENT, `${name} is missing`);
  return value;
}

/** A handle that can't name a volume names one that is not there. */
export function neededVolume(volumeId: string): string {
  needed('volume_id', volumeId);
  if (!isName(volumeId)) throw new CallError(status.NOT_FOUND, `there is no volume ${volumeId}`);
  return volumeId;
}

/** Readers on several nodes are accepted too: what is declared is not what is done. */
const manyNodes: ReadonlySet<Mode> = new Set([
  Mode.MULTI_NODE_READER_ONLY,
  Mode.MULTI_NODE_SINGLE_WRITER,
  Mode.MULTI_NODE_MULTI_WRITER,
]);
const fileSystems: ReadonlySet<string> = new Set(['', 'ext4', 'xfs']);

/** True where Kubernetes may attach the volume to several nodes at once. */
export const isForManyNodes = ({ accessMode }: VolumeCapability): boolean =>
  manyNodes.has(accessMode?.mode ?? Mode.UNKNOWN);

/**
 * Why the capability can't be had; undefined where it can: any access mode, since it is Kubernetes
 * that keeps to it, raw or of a file system that this driver makes.
 */
export function unsupported({ accessType, accessMode }: VolumeCapability): string | undefined {
  if ((accessMode?.mode ?? Mode.UNKNOWN) === Mode.UNKNOWN) return 'access_mode is missing';
  const fsType = fsTypeOf(accessType);
  return fileSystems.has(fsType) ? undefined : `file system ${fsType} is not supported`;
}

const fsTypeOf = (accessType: VolumeCapability['accessType']): string =>
  accessType.case === 'mount' ? accessType.value.fsType : '';

/** A raw device, and no file system on it. */
export const isBlock = ({ accessType }: VolumeCapability): boolean => accessType.case === 'block';

/** Throws INVALID_ARGUMENT: a directory that nodes share is no device. */
export function neededFiles(capability: VolumeCapability): VolumeCapability {
  if (!isBlock(capability)) return capability;
  throw new CallError(status.INVALID_ARGUMENT, 'a shared directory cannot be had as a raw device');
}

/** Takes ext4 where nothing is said, as Kubernetes does. */
export const fileSystemOf = ({ accessType }: VolumeCapability): 'ext4' | 'xfs' =>
  fsTypeOf(accessType) === 'xfs' ? 'xfs' : 'ext4';

export function neededCapability(capability: VolumeCapability | undefined): VolumeCapability {
  if (capability === undefined || capability.accessType.case === undefined) {
    throw new CallError(status.INVALID_ARGUMENT, 'volume_capability is missing');
  }
  const why = unsupported(capability);
  if (why !== undefined) throw new CallError(status.INVALID_ARGUMENT, why);
  return capability;
}

export const attributesSchema = z.object({
  /** How a detach treats a node that still uses the volume. */
  detachMode: z.enum(diskModes).default('unfenced'),
  /** `ack-early` only: milliseconds from the answer to the cut. */
  cutAfterMs: z.number().int().nonnegative().default(10_000),
  /** `exclusive` only: whether the question for watchers gets an answer. */
  watcherCheck: z.enum(['works', 'missing']).default('works'),
  /** Whether another node may attach what the record still has for one. */
  attachWhileBusy: z.enum(['refused', 'granted']).default('refused'),
  /** How a node reaches it. */
  transport: z.enum(transports).default('array'),
  /** How a cut is done. */
  revocation: z.enum(revocations).default('cut'),
  /** `shared-file` only: one lock table for all nodes, or one a node. */
  fileLocks: z.enum(['shared', 'local']).default('shared'),
  /** Whether a flush makes anything durable. */
  flushes: z.enum(['honest', 'ignored']).default('honest'),
  /** Keeps the data of each write beside the log of writes. */
  keepWrites: z.boolean().default(false),
  /** `mmp`: ext4 with multiple mount protection. */
  mkfs: z.enum(['plain', 'mmp']).default('plain'),
  /**
   * Drivers may answer something else than they do, or nothing: a probe of other people's drivers must
   * not be taken in by that. `error`: it detaches, and answers each time that it could not. `forgets`:
   * it answers that it did, and does and records nothing. `never`: it does nothing, and never answers.
   */
  detachAnswer: z.enum(['honest', 'error', 'forgets', 'never']).default('honest'),
  stageAnswer: z.enum(['honest', 'never']).default('honest'),
});
export type VolumeAttributes = z.infer<typeof attributesSchema>;

export const defaultAttributes: VolumeAttributes = attributesSchema.parse({});

/** The same as text, which is all that a volume context holds. */
const contextSchema = attributesSchema.extend({
  cutAfterMs: z
    .string()
    .regex(/^\d{1,9}$/, 'must be whole milliseconds')
    .transform(Number)
    .default(defaultAttributes.cutAfterMs),
  keepWrites: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .default(defaultAttributes.keepWrites),
});

/** Throws INVALID_ARGUMENT. Attributes of others, such as a provisioner's, are theirs. */
export function readAttributes(context: Readonly<Record<string, string>>): VolumeAttributes {
  const parsed = contextSchema.safeParse(context);
  if (parsed.success) return parsed.data;
  const why = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new CallError(status.INVALID_ARGUMENT, `volume attributes: ${why.join('; ')}`);
}

/** Does the detach and answers it, or not, as the driver would. */
export async function answerDetach(
  answer: VolumeAttributes['detachAnswer'],
  detach: () => Promise<void>,
): Promise<void> {
  if (answer === 'never') await never();
  if (answer === 'forgets') return;
  await detach();
  if (answer === 'error') throw new CallError(status.INTERNAL, 'the backend did not detach it');
}

/** Who asks gives up; what waits here goes with the process. */
export const never = (): Promise<never> => new Promise(() => undefined);
