/**
 * What the lab may do to volumes, as commands: `node disk-tool.ts cut --volume V --node N`. Each
 * prints one JSON object. Runs in the lab container, which sees the shared directory and the devices.
 */
import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { describeError, InfrastructureError, UsageError } from '../errors.ts';
import { boundAttachments, cutPaths } from './backend.ts';
import { copyVolume } from './copy.ts';
import { defaultRoot, imagePath, layoutOf, type Layout, volumeFolder } from './layout.ts';
import { bytesWritten, devicePath, ensureKernelDevices, isClaimed, isCut } from './loop-device.ts';
import { parseLoopRange } from './loop-range.ts';
import { createRecord, readRecord, readRecords } from './record-store.ts';
import { releaseAll, releaseLoops, releaseNode } from './release.ts';

const options = {
  volume: { type: 'string' },
  node: { type: 'string' },
  label: { type: 'string' },
  'size-bytes': { type: 'string' },
  /** Leased loop numbers, e.g. 128-191. */
  loops: { type: 'string', default: process.env['FORCEDETACH_LOOPS'] ?? '' },
  all: { type: 'boolean', default: false },
  root: { type: 'string', default: process.env['FORCEDETACH_ROOT'] ?? defaultRoot },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];
type Command = (layout: Layout, values: Values) => Promise<object>;

const commands: Readonly<Record<string, Command>> = {
  'create-volume': async (layout, values) => {
    const volume = needed(values, 'volume');
    const sizeBytes = Number(needed(values, 'size-bytes'));
    await mkdir(volumeFolder(layout, volume), { recursive: true });
    const path = imagePath(layout, volume);
    await writeFile(path, '', { flag: 'wx' });
    await truncate(path, sizeBytes);
    await createRecord(layout, volume);
    return { volume, path, sizeBytes };
  },

  /** Refused while a node has it mounted. No error when there is no such volume. */
  'remove-volume': async (layout, values) => {
    const volume = needed(values, 'volume');
    const record = await readRecord(layout, volume);
    const bound = record === undefined ? [] : await boundAttachments(layout, volume, record);
    const released = await releaseLoops(
      bound.map(({ loop }) => loop),
      0,
    );
    if (released.busy.length > 0) {
      throw new InfrastructureError(
        'VOLUME_IN_USE',
        `${volume} is mounted: ${released.busy.join()}`,
      );
    }
    await rm(volumeFolder(layout, volume), { recursive: true, force: true });
    return { volume, ...released };
  },

  /** Plays the node's loss of power: what it has not written by now it never will. */
  cut: async (layout, values) => {
    const target = { volume: needed(values, 'volume'), node: needed(values, 'node') };
    return { ...target, devices: await cutPaths(layout, target, 'crash') };
  },

  release: async (layout, values) =>
    values.all
      ? releaseAll(layout, parseLoopRange(needed(values, 'loops')))
      : releaseNode(layout, needed(values, 'node')),

  copy: (layout, values) => copyVolume(layout, needed(values, 'volume'), needed(values, 'label')),

  /** Every volume's record, with what the kernel says of each device that exists. */
  status: async (layout) => {
    const volumes = [];
    for (const [volume, record] of await readRecords(layout)) {
      const devices = [];
      for (const { node, generation, loop } of await boundAttachments(layout, volume, record)) {
        devices.push({
          node,
          generation,
          loop,
          device: devicePath(loop),
          claimed: await isClaimed(loop),
          cut: await isCut(loop),
          bytesWritten: await bytesWritten(loop),
        });
      }
      volumes.push({ volume, record, devices });
    }
    return { volumes };
  },
};

function needed(
  values: Values,
  name: 'volume' | 'node' | 'label' | 'size-bytes' | 'loops',
): string {
  const value = values[name];
  if (value === undefined || value === '') {
    throw new UsageError('MISSING_OPTION', `--${name} is missing`);
  }
  return value;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const command = commands[positionals[0] ?? ''];
  if (command === undefined) {
    throw new UsageError('NO_COMMAND', `no command ${positionals[0] ?? ''}`, {
      hint: `Give one of ${Object.keys(commands).join(', ')}.`,
    });
  }
  await ensureKernelDevices();
  console.log(JSON.stringify(await command(layoutOf(values.root), values)));
}

await main().catch((error: unknown) => {
  console.error(describeError(error));
  process.exitCode = error instanceof UsageError ? error.exitCode : 4;
});
