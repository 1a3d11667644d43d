/** The disk's tool in the lab (lib/storage/csi/disk-tool.ts): its commands, and what their answers look like. */
import { z } from 'zod';
import { copyTimeoutMs } from '../engine/run.ts';
import { pathStatusSchema, powerLossSchema, copyIdentitySchema } from '../../storage/index.ts';
import type { CopyIdentity } from '../../history/index.ts';
import {
  linkStates,
  type PowerLoss,
  type SeveredLink,
  type DiskMode,
} from '../../scenario/index.ts';
import { type ExecOptions, type Lab, labNode } from './containers.ts';

export const diskTool = [...labNode, '/app/lib/storage/csi/disk-tool.ts'];

/** `values`: the command's options by their names. */
async function tool<T>(
  lab: Lab,
  command: string,
  answer: z.ZodType<T>,
  values: Readonly<Record<string, string>> = {},
  options?: ExecOptions,
): Promise<T> {
  const flags = Object.entries(values).flatMap(([name, value]) => [`--${name}`, value]);
  return answer.parse(JSON.parse(await lab.exec([...diskTool, command, ...flags], options)));
}

/** Where an answer says nothing but that it is done. */
const done = z.unknown().transform(() => undefined);

export interface CreateVolumeOptions {
  readonly volume: string;
  readonly sizeBytes: number;
  readonly mode: DiskMode;
}

/** A blank volume. Throws where there is one of that name. */
export const createVolume = (
  lab: Lab,
  { volume, sizeBytes, mode }: CreateVolumeOptions,
): Promise<void> =>
  tool(lab, 'create-volume', done, { volume, 'size-bytes': String(sizeBytes), mode });

/** Takes the volume away with what a dead node left of it. No error when there is none. */
export const removeVolume = (lab: Lab, volume: string): Promise<void> =>
  tool(lab, 'remove-volume', done, { volume });

const cut = { cut: z.boolean() };

const statusSchema = z.object({
  volumes: z.array(
    z.object({
      volume: z.string(),
      devices: z.array(
        pathStatusSchema
          .pick({ node: true, loop: true, device: true, generation: true, bytesWritten: true })
          .extend(cut),
      ),
    }),
  ),
});
export type DiskStatus = z.infer<typeof statusSchema>['volumes'];

export const diskStatus = async (lab: Lab): Promise<DiskStatus> =>
  (await tool(lab, 'status', statusSchema)).volumes;

export const listVolumes = async (lab: Lab): Promise<string[]> =>
  (await diskStatus(lab)).map(({ volume }) => volume);

const lostSchema = z.object({
  lost: z.array(
    powerLossSchema.omit({ paths: true }).extend({
      volume: z.string(),
      canaryAt: z.number().optional(),
      canaryError: z.string().optional(),
    }),
  ),
});
export type NodePowerLoss = z.infer<typeof lostSchema>['lost'];

export interface LosePowerRequest {
  readonly node: string;
  /** A process of the node, as the host numbers it. */
  readonly pid: number;
  readonly powerLoss: PowerLoss;
  readonly seed: string;
  /** Written right before the cut, and never synced. */
  readonly canary: string;
}

export async function losePower(
  lab: Lab,
  { node, pid, powerLoss, seed, canary }: LosePowerRequest,
): Promise<NodePowerLoss> {
  const asked = { node, unflushed: powerLoss, seed, pid: String(pid), canary };
  return (await tool(lab, 'lose-power', lostSchema, asked)).lost;
}

/** Cuts every path of the node to every volume it holds, for good. Idempotent. */
export const fenceNode = (lab: Lab, node: string): Promise<void> =>
  tool(lab, 'fence', done, { node });

const linkSchema = z.object({
  link: z.enum(linkStates),
  devices: z.array(
    pathStatusSchema
      .pick({ volume: true, device: true, generation: true, link: true, held: true })
      .extend(cut),
  ),
});
export type LinkReport = z.infer<typeof linkSchema>;

export const severLink = (lab: Lab, node: string, how: SeveredLink): Promise<LinkReport> =>
  tool(lab, 'sever', linkSchema, { node, how });

/** The node's path to the storage works again, except where it was cut. Idempotent. */
export const restoreLink = (lab: Lab, node: string): Promise<LinkReport> =>
  tool(lab, 'restore', linkSchema, { node });

/** The driver on that node does not answer such calls about the volume until `letGoCalls`. */
export const holdCall = (
  lab: Lab,
  { node, call, volume }: { readonly node: string; readonly call: string; readonly volume: string },
): Promise<void> => tool(lab, 'hold', done, { node, call, volume });

/** Whatever is held goes on. Idempotent. */
export const letGoCalls = (lab: Lab): Promise<void> => tool(lab, 'let-go', done);

const releasedSchema = z.object({ freed: z.array(z.string()), busy: z.array(z.string()) });

/** Frees the devices of a node that is off; those that stay are `busy`. */
export const releaseNode = (lab: Lab, node: string): Promise<{ readonly busy: string[] }> =>
  tool(lab, 'release', releasedSchema, { node });

interface VolumeReading {
  readonly volume: string;
  readonly signal: AbortSignal | undefined;
}

/** Resolves to what the copy is, as the disk's tool labelled it. */
export function copyVolume(
  lab: Lab,
  { volume, label, signal }: VolumeReading & { readonly label: string },
): Promise<CopyIdentity> {
  const options = { timeoutMs: copyTimeoutMs, signal };
  return tool(lab, 'copy', copyIdentitySchema, { volume, label }, options);
}

const volumeSchema = z.object({ volume: z.string(), filesystemUuid: z.string().optional() });

/** A volume with a file system on it; a shared directory has none. */
export const identifyVolume = (lab: Lab, volume: string): Promise<z.infer<typeof volumeSchema>> =>
  tool(lab, 'identify', volumeSchema, { volume });

const exportedSchema = z.object({
  folder: z.string(),
  files: z.array(z.object({ name: z.string() })),
});

/** Puts the volume's log of writes, compressed, into a folder that the lab sees. */
export function exportWrites(
  lab: Lab,
  { volume, originNs, signal }: VolumeReading & { readonly originNs: bigint },
): Promise<z.infer<typeof exportedSchema>> {
  const asked = { volume, label: volume, 'origin-ns': String(originNs) };
  const options = { timeoutMs: copyTimeoutMs, signal };
  return tool(lab, 'export-writes', exportedSchema, asked, options);
}
