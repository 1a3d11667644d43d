/** The volume's backend as experiments see it: the disk's tool in the lab, and the node's mount. */
import { z } from 'zod';
import { InfrastructureError, UsageError } from '../../errors.ts';
import type { Disk, Machine } from '../port.ts';
import { writeCanaries } from './canary.ts';
import { docker } from './engine.ts';
import type { Lab } from './lab-port.ts';

const diskTool = ['node', '/app/lib/csi/disk-tool.ts'];

export interface KindDiskOptions {
  readonly lab: Lab;
  /** Handle of the volume. */
  readonly volume: string;
  readonly machine: (node: string) => Machine;
}

export interface NewVolume {
  readonly volume: string;
  readonly sizeBytes: number;
}

/** A blank volume. Throws where there is one of that name. */
export async function createVolume(lab: Lab, { volume, sizeBytes }: NewVolume): Promise<void> {
  await tool(lab, 'create-volume', '--volume', volume, '--size-bytes', String(sizeBytes));
}

/** Takes the volume away with what a dead node left of it. No error when there is none. */
export async function removeVolume(lab: Lab, volume: string): Promise<void> {
  await tool(lab, 'remove-volume', '--volume', volume);
}

/** Handles of the volumes that there are. */
export async function listVolumes(lab: Lab): Promise<string[]> {
  const { volumes } = statusSchema.parse(await tool(lab, 'status'));
  return volumes.map(({ volume }) => volume);
}

const cutSchema = z.object({
  devices: z.array(
    z.object({ device: z.string(), generation: z.number(), bytesWritten: z.number() }),
  ),
});
const releasedSchema = z.object({ freed: z.array(z.string()), busy: z.array(z.string()) });
const statusSchema = z.object({
  volumes: z.array(
    z.object({
      volume: z.string(),
      devices: z.array(z.object({ node: z.string(), loop: z.number(), cut: z.boolean() })),
    }),
  ),
});

export function kindDisk({ lab, volume, machine }: KindDiskOptions): Disk {
  return {
    async losePower(node) {
      const answer = await tool(lab, 'cut', '--volume', volume, '--node', node);
      const { devices } = cutSchema.parse(answer);
      const each = devices.map(
        ({ device, generation, bytesWritten }) =>
          `${device} (generation ${generation}) has one sector left, by its sizelimit in sysfs; ` +
          `${bytesWritten} bytes were written through it`,
      );
      const evidence =
        devices.length === 0 ? `${node} has no device of ${volume}` : each.join('\n');
      return { verified: devices.length > 0, evidence };
    },

    sever: () => Promise.reject(new UsageError('NOT_YET', 'this disk cannot be severed')),
    restore: () => Promise.resolve(),
    exportWrites: () => Promise.resolve(),

    async releaseDead(node) {
      const { busy } = releasedSchema.parse(await tool(lab, 'release', '--node', node));
      if (busy.length > 0) {
        throw new InfrastructureError(
          'DEVICE_BUSY',
          `${node} is off, yet ${busy.join()} is in use`,
          {
            hint: 'Something outside the node holds its mount; find it in the lab.',
            command: `docker exec ${lab.container} sh -c 'grep -l ${busy[0]} /proc/*/mountinfo'`,
          },
        );
      }
    },

    async writeCanaries(node, content) {
      await docker([
        'exec',
        node,
        ...writeCanaries(await mountPointOn(lab, volume, node), content),
      ]);
    },

    async copy(label, freeze) {
      await using thaw = new AsyncDisposableStack();
      for (const each of freeze.map(machine)) {
        if ((await each.state()) !== 'running') continue;
        thaw.defer(() => each.thaw());
        await each.freeze();
      }
      await tool(lab, 'copy', '--volume', volume, '--label', label);
    },
  };
}

/** Where the node has the volume staged. A zombie may have it by an older device as well. */
async function mountPointOn(lab: Lab, volume: string, node: string): Promise<string> {
  const { volumes } = statusSchema.parse(await tool(lab, 'status'));
  const devices = volumes.find((each) => each.volume === volume)?.devices ?? [];
  const loop = devices.findLast((each) => each.node === node && !each.cut)?.loop;
  const wanted = `$3 == "7:${loop}" && $5 ~ /globalmount$/ { print $5; exit }`;
  const found =
    loop === undefined ? '' : await docker(['exec', node, 'awk', wanted, '/proc/1/mountinfo']);
  if (found.trim() === '') {
    throw new InfrastructureError('NOT_MOUNTED', `${volume} is not mounted on ${node}`, {
      command: `docker exec ${lab.container} ${diskTool.join(' ')} status`,
    });
  }
  return found.trim();
}

async function tool(lab: Lab, ...args: readonly string[]): Promise<unknown> {
  return JSON.parse(await lab.exec([...diskTool, ...args]));
}
