/** The disk's tool in the lab (lib/csi/disk-tool.ts): its commands, and what their answers look like. */
import { z } from 'zod';
import { copyTimeoutMs } from '../../../engine/run.ts';
import { pathStatusSchema, powerLossSchema } from '../../../csi/array-port.ts';
import { copyIdentitySchema } from '../../../csi/copy-label.ts';
import type { CopyIdentity } from '../../../storage/identity.ts';
import { linkStates, type PowerLoss, type SeveredLink } from '../../../disk-kinds.ts';
import type { DiskMode } from '../../../disk-modes/index.ts';
import type { ExecOptions, Lab } from './lab.ts';
import { labNode } from './lab-node.ts';

/** What runs it in the lab. */
export const diskTool = [...labNode, '/app/lib/csi/disk-tool.ts'];

async function tool(lab: Lab, args: readonly string[], options?: ExecOptions): Promise<unknown> {
  return JSON.parse(await lab.exec([...diskTool, ...args], options));
}

export interface CreateVolumeOptions {
  readonly volume: string;
  readonly sizeBytes: number;
  readonly mode: DiskMode;
}

/** A blank volume. Throws where there is one of that name. */
export async function createVolume(
  lab: Lab,
  { volume, sizeBytes, mode }: CreateVolumeOptions,
): Promise<void> {
  const size = ['--size-bytes', String(sizeBytes)];
  await tool(lab, ['create-volume', '--volume', volume, ...size, '--mode', mode]);
}

/** Takes the volume away with what a dead node left of it. No error when there is none. */
export async function removeVolume(lab: Lab, volume: string): Promise<void> {
  await tool(lab, ['remove-volume', '--volume', volume]);
}

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

export async function diskStatus(lab: Lab): Promise<DiskStatus> {
  return statusSchema.parse(await tool(lab, ['status'])).volumes;
}

/** Handles of the volumes that there are. */
export async function listVolumes(lab: Lab): Promise<string[]> {
  return (await diskStatus(lab)).map(({ volume }) => volume);
}

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

/** What became of the unflushed writes, by volume. */
export async function losePower(
  lab: Lab,
  { node, pid, powerLoss, seed, canary }: LosePowerRequest,
): Promise<NodePowerLoss> {
  const how = ['--unflushed', powerLoss, '--seed', seed];
  const last = ['--pid', String(pid), '--canary', canary];
  return lostSchema.parse(await tool(lab, ['lose-power', '--node', node, ...how, ...last])).lost;
}

/** Cuts every path of the node to every volume it holds, for good. Idempotent. */
export async function fenceNode(lab: Lab, node: string): Promise<void> {
  await tool(lab, ['fence', '--node', node]);
}

const linkSchema = z.object({
  link: z.enum(linkStates),
  devices: z.array(
    pathStatusSchema
      .pick({ volume: true, device: true, generation: true, link: true, held: true })
      .extend(cut),
  ),
});
export type LinkReport = z.infer<typeof linkSchema>;

export async function severLink(lab: Lab, node: string, how: SeveredLink): Promise<LinkReport> {
  return linkSchema.parse(await tool(lab, ['sever', '--node', node, '--how', how]));
}

/** The node's path to the storage works again, except where it was cut. Idempotent. */
export async function restoreLink(lab: Lab, node: string): Promise<LinkReport> {
  return linkSchema.parse(await tool(lab, ['restore', '--node', node]));
}

/** The driver on that node does not answer such calls about the volume until `letGoCalls`. */
export async function holdCall(
  lab: Lab,
  { node, call, volume }: { readonly node: string; readonly call: string; readonly volume: string },
): Promise<void> {
  await tool(lab, ['hold', '--node', node, '--call', call, '--volume', volume]);
}

/** Whatever is held goes on. Idempotent. */
export async function letGoCalls(lab: Lab): Promise<void> {
  await tool(lab, ['let-go']);
}

const releasedSchema = z.object({ freed: z.array(z.string()), busy: z.array(z.string()) });

/** Frees the devices of a node that is off; those that stay are `busy`. */
export async function releaseNode(lab: Lab, node: string): Promise<{ readonly busy: string[] }> {
  return releasedSchema.parse(await tool(lab, ['release', '--node', node]));
}

interface VolumeReading {
  readonly volume: string;
  readonly signal: AbortSignal | undefined;
}

/** Resolves to what the copy is, as the disk's tool labelled it. */
export async function copyVolume(
  lab: Lab,
  { volume, label, signal }: VolumeReading & { readonly label: string },
): Promise<CopyIdentity> {
  const asked = ['copy', '--volume', volume, '--label', label];
  return copyIdentitySchema.parse(await tool(lab, asked, { timeoutMs: copyTimeoutMs, signal }));
}

const volumeSchema = z.object({ volume: z.string(), filesystemUuid: z.string().optional() });

/** A volume with a file system on it; a shared directory has none. */
export async function identifyVolume(
  lab: Lab,
  volume: string,
): Promise<z.infer<typeof volumeSchema>> {
  return volumeSchema.parse(await tool(lab, ['identify', '--volume', volume]));
}

const exportedSchema = z.object({
  folder: z.string(),
  files: z.array(z.object({ name: z.string() })),
});

/** Puts the volume's log of writes, compressed, into a folder that the lab sees. */
export async function exportWrites(
  lab: Lab,
  { volume, originNs, signal }: VolumeReading & { readonly originNs: bigint },
): Promise<z.infer<typeof exportedSchema>> {
  const asked = ['--volume', volume, '--label', volume, '--origin-ns', String(originNs)];
  const options = { timeoutMs: copyTimeoutMs, signal };
  return exportedSchema.parse(await tool(lab, ['export-writes', ...asked], options));
}
