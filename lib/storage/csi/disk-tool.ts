/**
 * What the lab may do to volumes, as commands: `node disk-tool.ts sever --node N --how stalls`. Each
 * prints one JSON object. Runs in the lab container, which sees the shared directory and the array.
 */
import { parseArgs } from 'node:util';
import {
  linkStateOf,
  powerLosses,
  storageLinks,
  type LinkState,
  diskModes,
  isDirectory,
} from '../../scenario/index.ts';
import { describeError, UsageError } from '../../core/index.ts';
import { arrayAt, type PathStatus } from './array-client.ts';
import { writeUnsyncedCanary } from './canary.ts';
import { answerCalls, letGo } from './calls.ts';
import { copyVolume, filesystemUuidOf } from './copy-label.ts';
import { exportWrites } from './export-writes.ts';
import { defaultRoot, layoutOf } from './layout.ts';
import { ensureKernelDevices, parseLoopRange } from './devices.ts';
import {
  type StorageBackend,
  type CutDevice,
  failHeld,
  fence,
  livePaths,
  losePower,
  releaseAll,
  releaseNode,
} from './paths.ts';
import { heldBy, readRecords } from './record.ts';
import { createVolume, removeVolume } from './volumes.ts';

const options = {
  volume: { type: 'string' },
  node: { type: 'string' },
  label: { type: 'string' },
  'size-bytes': { type: 'string' },
  /** `shared-file`: a directory. Anything else is an image. */
  mode: { type: 'string' },
  /** What becomes of unflushed writes: keeps, drops, reorders or tears. */
  unflushed: { type: 'string' },
  seed: { type: 'string' },
  /** What the canary says that the loss of power is to take. */
  canary: { type: 'string' },
  /** A process of the node, as the lab's /proc numbers it. */
  pid: { type: 'string' },
  /** stalls or errors. */
  how: { type: 'string' },
  /** As a scenario has them: unpublish=never,stage=INTERNAL*2. */
  calls: { type: 'string' },
  /** CLOCK_MONOTONIC at the run's t = 0, in nanoseconds. */
  'origin-ns': { type: 'string' },
  /** Leased loop numbers, e.g. 128-191. */
  loops: { type: 'string', default: process.env['FORCEDETACH_LOOPS'] ?? '' },
  all: { type: 'boolean', default: false },
  root: { type: 'string', default: process.env['FORCEDETACH_ROOT'] ?? defaultRoot },
} as const;

type ToolValues = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];
type OptionName = Exclude<keyof ToolValues, 'all'>;
type Command = (backend: StorageBackend, values: ToolValues) => Promise<object>;

const commands: Readonly<Record<string, Command>> = {
  'create-volume': async (backend, values) => {
    const volume = needed(values, 'volume');
    const sizeBytes = Number(needed(values, 'size-bytes'));
    const { mode } = values;
    const shared = mode !== undefined && isDirectory(oneOf(diskModes, 'mode', mode));
    return { volume, path: await createVolume(backend, { volume, sizeBytes, shared }), sizeBytes };
  },

  /** Refused while a path that works is mounted. No error when there is no such volume. */
  'remove-volume': async (backend, values) => {
    const volume = needed(values, 'volume');
    return { volume, freed: await removeVolume(backend, volume) };
  },

  /** Plays the node's loss of power: what it has not written by now it never will. */
  'lose-power': async (backend, values) => {
    const unflushed = oneOf(powerLosses, 'unflushed', needed(values, 'unflushed'));
    const asked = { node: needed(values, 'node'), unflushed, seed: needed(values, 'seed') };
    const [pid, canary] = [Number(needed(values, 'pid')), needed(values, 'canary')];
    const writeCanary = ({ device }: PathStatus): Promise<void> =>
      writeUnsyncedCanary(pid, device, canary);
    return { ...asked, ...(await losePower(backend, { ...asked, writeCanary })) };
  },

  /** Fences the node out of every volume it holds, as an operator does by hand. Idempotent. */
  fence: async (backend, values) => {
    const node = needed(values, 'node');
    const cut: CutDevice[] = [];
    for (const [volume, record] of await readRecords(backend.layout)) {
      const attachment = heldBy(record, node);
      if (attachment !== undefined) cut.push(...(await fence(backend, { volume, attachment })));
    }
    return { node, cut };
  },

  /** Holds or fails what the node asks of its disks, until it is restored. */
  sever: (backend, values) =>
    link(backend, values, linkStateOf[oneOf(storageLinks, 'how', needed(values, 'how'))]),

  /** Idempotent, also where nothing was severed. What was cut stays cut. */
  restore: (backend, values) => link(backend, values, 'pass'),

  /** Idempotent. What waits for a cut path, or for one whose link stalls, gets an error. */
  'fail-held': async ({ array }, values) => {
    await failHeld(array, needed(values, 'node'));
    return {};
  },

  release: (backend, values) => {
    const loops = parseLoopRange(needed(values, 'loops'));
    return values.all
      ? releaseAll(backend.array, loops)
      : releaseNode(backend, loops, needed(values, 'node'));
  },

  copy: (backend, values) => copyVolume(backend, needed(values, 'volume'), needed(values, 'label')),

  /** What tells this volume from every other one, by an open path: Ceph has no image file. */
  identify: async ({ array }, values) => {
    const volume = needed(values, 'volume');
    const [path] = await livePaths(array, { volume });
    return { volume, filesystemUuid: path && (await filesystemUuidOf(path.device)) };
  },

  'export-writes': ({ layout }, values) =>
    exportWrites(layout, {
      volume: needed(values, 'volume'),
      label: needed(values, 'label'),
      originNs: BigInt(needed(values, 'origin-ns')),
    }),

  /** Calls about the volume are answered so until they are let go. */
  'answer-calls': async ({ layout }, values) => {
    await answerCalls(layout, needed(values, 'volume'), needed(values, 'calls'));
    return {};
  },

  /** Without a volume: of all. */
  'let-go': async ({ layout }, { volume }) => {
    await letGo(layout, volume);
    return {};
  },

  /** Every volume's record, with what the array says of each path that there is. */
  status: async ({ layout, array }) => {
    const paths = (await livePaths(array)).map((path) => ({ ...path, cut: path.state === 'cut' }));
    const volumes = [...(await readRecords(layout))].map(([volume, record]) => ({
      volume,
      record,
      devices: paths.filter((path) => path.volume === volume),
    }));
    return { volumes };
  },
};

async function link(
  { array }: StorageBackend,
  values: ToolValues,
  state: LinkState,
): Promise<object> {
  const node = needed(values, 'node');
  await array.link({ node, state });
  const paths = await livePaths(array, { node });
  return {
    node,
    link: state,
    devices: paths.map((path) => ({ ...path, cut: path.state === 'cut' })),
  };
}

function needed(values: ToolValues, name: OptionName): string {
  const value = values[name];
  if (value === undefined || value === '') {
    throw new UsageError('MISSING_OPTION', `--${name} is missing`);
  }
  return value;
}

function oneOf<T extends string>(words: readonly T[], name: OptionName, value: string): T {
  const word = words.find((each) => each === value);
  if (word !== undefined) return word;
  throw new UsageError('BAD_OPTION', `--${name} is none of ${words.join(', ')}: ${value}`);
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
  const layout = layoutOf(values.root);
  const backend = { layout, array: arrayAt(layout.arraySocket) };
  console.log(JSON.stringify(await command(backend, values)));
}

await main().catch((error: unknown) => {
  console.error(describeError(error));
  process.exitCode = error instanceof UsageError ? error.exitCode : 4;
});
