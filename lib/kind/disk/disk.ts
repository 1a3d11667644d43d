/** The volume's backend as experiments see it: the disk's tool in the lab, and the node's mount. */
import { join } from 'node:path';
import { z } from 'zod';
import { InfrastructureError } from '../../core/index.ts';
import type { Disk, Machine, Proof } from '../../run/index.ts';
import {
  type DiskMode,
  isDirectory,
  linkStateOf,
  linkStates,
  type PowerLoss,
  type SeveredLink,
} from '../../scenario/index.ts';
import {
  canaryFolder,
  copyIdentitySchema,
  pathStatusSchema,
  powerLossSchema,
  type Target,
  unsyncedCanary,
} from '../../storage/index.ts';
import * as engine from '../engine/commands.ts';
import { pasteable, copyTimeoutMs, firstProcessOf, run } from '../engine/run.ts';
import { type ExecOptions, type Lab, labNode } from './containers.ts';

const done = z.unknown().transform(() => undefined);
const isCut = { cut: z.boolean() };
const linkReport = z.object({
  link: z.enum(linkStates),
  devices: z.array(
    pathStatusSchema
      .pick({ volume: true, device: true, generation: true, link: true, held: true })
      .extend(isCut),
  ),
});
type LinkReport = z.output<typeof linkReport>;

/** The commands of the disk's tool (lib/storage/csi/disk-tool.ts), and what of their answers matters. */
const answers = {
  'create-volume': done,
  'remove-volume': done,
  fence: done,
  'answer-calls': done,
  'let-go': done,
  'fail-held': done,
  sever: linkReport,
  restore: linkReport,
  copy: copyIdentitySchema,
  release: z.object({ busy: z.array(z.string()) }),
  identify: z.object({ volume: z.string(), filesystemUuid: z.string().optional() }),
  'export-writes': z.object({
    folder: z.string(),
    files: z.array(z.object({ name: z.string() })),
  }),
  status: z.object({
    volumes: z.array(
      z.object({
        volume: z.string(),
        devices: z.array(
          pathStatusSchema
            .pick({ node: true, loop: true, device: true, generation: true, bytesWritten: true })
            .extend(isCut),
        ),
      }),
    ),
  }),
  'lose-power': z.object({
    lost: z.array(
      powerLossSchema.omit({ paths: true }).extend({
        volume: z.string(),
        canaryAt: z.number().optional(),
        canaryError: z.string().optional(),
      }),
    ),
  }),
};
type Answer<C extends keyof typeof answers> = z.output<(typeof answers)[C]>;
export type DiskStatus = Answer<'status'>['volumes'];
type NodePowerLoss = Answer<'lose-power'>['lost'];

type ToolValues = Readonly<Record<string, string | number | bigint>>;

/** A command of the disk's tool, for the lab. `values`: its options by their names. */
export const diskToolWords = (command: keyof typeof answers, values: ToolValues = {}): string[] => {
  const flags = Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return [...labNode, '/app/lib/storage/csi/disk-tool.ts', command, ...flags];
};

/** Runs it in the lab. */
export async function diskTool<C extends keyof typeof answers>(
  lab: Lab,
  command: C,
  values: ToolValues = {},
  options?: ExecOptions,
): Promise<Answer<C>> {
  const answer = await lab.exec(diskToolWords(command, values), options);
  return answers[command].parse(JSON.parse(answer)) as Answer<C>;
}

export const listVolumes = async (lab: Lab): Promise<string[]> =>
  (await diskTool(lab, 'status')).volumes.map(({ volume }) => volume);

/** Between the array and the nodes, where their disks are reached over one. */
export interface StorageNetwork {
  /** Takes the node off it: what the node asks of its disks waits. Idempotent. */
  cut(node: string): Promise<Proof>;
  /** Idempotent. */
  join(node: string): Promise<Proof>;
}

/** A machine whose servers can be held. */
interface ServedMachine extends Pick<Machine, 'state'> {
  /** Resolves to what lets them go on. */
  stopServers(): Promise<() => Promise<void>>;
}

interface KindDiskOptions {
  readonly lab: Lab;
  /** Absent: nodes have the array's own devices. */
  readonly storage?: StorageNetwork | undefined;
  readonly volume: string;
  readonly mode: DiskMode;
  /** What a node's loss of power does to what it wrote and did not flush. */
  readonly powerLoss: PowerLoss;
  /** Decides which of those writes stay. */
  readonly seed: string;
  /** CLOCK_MONOTONIC at the run's beginning, nanoseconds. */
  readonly originNs: bigint;
  readonly machine: (node: string) => ServedMachine;
  /** How the disk names its copy of an image. Default: by the image's own label. */
  readonly copyLabel?: (image: string) => string;
}

export function kindDisk(options: KindDiskOptions): Disk {
  const { lab, storage, volume, mode, powerLoss, seed, originNs, machine } = options;
  const copyLabel = options.copyLabel ?? ((image: string): string => image);
  const exportWrites: Disk['exportWrites'] = async (folder, signal) => {
    const asked = { volume, label: volume, 'origin-ns': originNs };
    const exported = await diskTool(lab, 'export-writes', asked, {
      timeoutMs: copyTimeoutMs,
      signal,
    });
    for (const { name } of exported.files) {
      const to = join(folder, 'history', name);
      const argv = engine.copyOut(lab.container, `${exported.folder}/${name}`, to);
      await run(argv, { timeoutMs: copyTimeoutMs, signal });
    }
    await lab.exec(['rm', '-r', exported.folder]);
  };
  return {
    async losePower(node, canary) {
      const pid = await firstProcessOf(node);
      const asked = { node, unflushed: powerLoss, seed, pid, canary };
      const { lost } = await diskTool(lab, 'lose-power', asked);
      // Asked anew: the certificate must not rest on the command's own word.
      return powerLost(lost, (await diskTool(lab, 'status')).volumes, { node, volume });
    },
    async fence(node) {
      await diskTool(lab, 'fence', { node });
      return fencedProof((await diskTool(lab, 'status')).volumes, { node, volume });
    },
    async sever(node, how) {
      // Before the array logs that nothing comes, nothing comes.
      const cut = await storage?.cut(node);
      return allOf(
        cut,
        severed(await diskTool(lab, 'sever', { node, how }), { node, volume, how }),
      );
    },
    async restore(node) {
      const passes = restored(await diskTool(lab, 'restore', { node }), { node, volume });
      return allOf(await storage?.join(node), passes);
    },

    answerCalls: (calls) => diskTool(lab, 'answer-calls', { volume, calls }),

    async releaseDead(node) {
      const { busy } = await diskTool(lab, 'release', { node });
      if (busy.length === 0) return;
      throw new InfrastructureError('DEVICE_BUSY', `${node} is off, but ${busy.join()} is in use`, {
        hint: 'a process outside the node holds its mount; the command finds it',
        command: pasteable(engine.shell(lab.container, `grep -l ${busy[0]} /proc/*/mountinfo`)),
      });
    },

    async writeSyncedCanary(node, content) {
      const mountPoint = await mountPointOn(lab, volume, node);
      await run(engine.exec(node, ...writeSyncedCanary(mountPoint, content)));
    },

    async copy(label, freeze, signal) {
      await using thaw = new AsyncDisposableStack();
      // The array holds every path for a moment by itself; a shared directory has no such gate.
      for (const each of isDirectory(mode) ? freeze.map(machine) : []) {
        if ((await each.state()) !== 'running') continue;
        thaw.defer(await each.stopServers());
      }
      const asked = { volume, label: copyLabel(label) };
      return await diskTool(lab, 'copy', asked, { timeoutMs: copyTimeoutMs, signal });
    },
    // A shared directory has none.
    ...(isDirectory(mode) ? {} : { exportWrites }),
  };
}

const allOf = (...proofs: readonly (Proof | undefined)[]): Proof => {
  const asked = proofs.filter((proof) => proof !== undefined);
  return {
    verified: asked.every(({ verified }) => verified),
    evidence: asked.map(({ evidence }) => evidence).join('\n'),
  };
};

type DevicePath = DiskStatus[number]['devices'][number];

const pathsOf = (status: DiskStatus, { node, volume }: Target): DevicePath[] =>
  (status.find((each) => each.volume === volume)?.devices ?? []).filter(
    (each) => each.node === node,
  );

const tellCut = ({ device, generation, bytesWritten, cut }: DevicePath): string =>
  `${device} (generation ${generation}) ${cut ? 'is cut' : 'WAS NOT CUT'}; ` +
  `${bytesWritten} bytes were written through it`;

/** Holds where no path of the node to the volume serves; a dead node's are gone. */
export function fencedProof(status: DiskStatus, at: Target): Proof {
  const paths = pathsOf(status, at);
  if (paths.length === 0) return { ...noDevice(at.node, at.volume), verified: true };
  return { verified: paths.every(({ cut }) => cut), evidence: paths.map(tellCut).join('\n') };
}

/** Holds where every path that the node has to the volume was cut, right behind an unsynced canary. */
export function powerLost(lost: NodePowerLoss, status: DiskStatus, at: Target): Proof {
  const paths = pathsOf(status, at);
  if (paths.length === 0) return noDevice(at.node, at.volume);
  const ofVolume = lost.filter((one) => one.volume === at.volume);
  const unflushed = ofVolume.map(
    ({ unflushedWrites, unflushedBytes, kept }) =>
      `${unflushedWrites} writes (${unflushedBytes} bytes) were acknowledged and not flushed, ` +
      `${kept} of them stay`,
  );
  const canary = ofVolume.some(({ canaryAt }) => canaryAt !== undefined);
  const told = canary
    ? 'an unsynced canary was written right before'
    : `NO UNSYNCED CANARY WAS WRITTEN: ${ofVolume[0]?.canaryError ?? 'the disk says nothing of it'}`;
  return {
    verified: canary && paths.every(({ cut }) => cut),
    evidence: [...paths.map(tellCut), ...unflushed, told].join('\n'),
  };
}

/** Holds where some path that was not cut is in that state, and none is in another. */
export function severed(
  { devices }: LinkReport,
  { node, volume, how }: Target & { readonly how: SeveredLink },
): Proof {
  const paths = devices.filter((each) => each.volume === volume && !each.cut);
  if (paths.length === 0) return noDevice(node, volume);
  const told = paths.map(
    ({ device, generation, link, held }) =>
      `the link under ${device} (generation ${generation}): ${link}, ${held} requests held`,
  );
  const verified = paths.every(({ link }) => link === linkStateOf[how]);
  return { verified, evidence: told.join('\n') };
}

/** Holds where the node's link passes; what was cut meanwhile stays cut. */
export function restored({ link, devices }: LinkReport, { node, volume }: Target): Proof {
  const told = devices
    .filter((each) => each.volume === volume)
    .map(({ device, generation, cut, held }) =>
      cut
        ? `${device} (generation ${generation}) is cut: what it held was refused`
        : `${device} (generation ${generation}) serves again, ${held} requests still held`,
    );
  return { verified: link === 'pass', evidence: [`${node}: ${link}`, ...told].join('\n') };
}

const noDevice = (node: string, volume: string): Proof => ({
  verified: false,
  evidence: `${node} has no device of ${volume}`,
});

/** Where the node has the volume staged. A zombie may have it by an older device as well. */
async function mountPointOn(lab: Lab, volume: string, node: string): Promise<string> {
  const { volumes } = await diskTool(lab, 'status');
  const loop = pathsOf(volumes, { node, volume }).findLast(({ cut }) => !cut)?.loop;
  const wanted = `$3 == "7:${loop}" && $5 ~ /globalmount$/ { print $5; exit }`;
  const found =
    loop === undefined ? '' : await run(engine.exec(node, 'awk', wanted, '/proc/1/mountinfo'));
  if (found.trim() === '') {
    throw new InfrastructureError('NOT_MOUNTED', `${volume} is not mounted on ${node}`, {
      command: pasteable(engine.exec(lab.container, ...diskToolWords('status'))),
    });
  }
  return found.trim();
}

/**
 * Both files fill one block and are overwritten in place. `$1` is the mount point, `$2` the content;
 * padded with newlines to one block, which a reader trims.
 */
const script = `set -eu
folder="$1/${canaryFolder}"
mkdir -p "$folder"
block() { { printf '%s' "$1"; yes ''; } 2>/dev/null | head -c 4096; }
for name in synced ${unsyncedCanary}; do
  block before | dd of="$folder/$name" conv=notrunc,fsync iflag=fullblock bs=4096 status=none
done
sync "$folder"
block "$2" | dd of="$folder/synced" conv=notrunc,fsync iflag=fullblock bs=4096 status=none`;

/** Syncs the content into the one canary, and a word before it into the other. */
const writeSyncedCanary = (mountPoint: string, content: string): readonly string[] => [
  'sh',
  '-c',
  script,
  'write-synced-canary',
  mountPoint,
  content,
];
