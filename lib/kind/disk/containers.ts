/**
 * The lab: one privileged container beside the cluster that sees its shared directory, its loop
 * devices and its nodes' processes. The disk and its observer act through it, so that nothing of
 * this project has to run on the host itself.
 */
import { projectRoot, waitFor } from '../../core/index.ts';
import { storageHost } from '../../storage/index.ts';
import * as engine from '../engine/commands.ts';
import { type LineStream, openStream, pasteable, inspect, run } from '../engine/run.ts';
import { sharedDir, socketDir } from '../create/kind-config.ts';
import { driverLoopsOf, type Lease } from '../ownership/lease.ts';

export interface ExecOptions {
  /** Default 60 000. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface Lab {
  /** Name of the container, for commands that a person may paste. */
  readonly container: string;
  /**
   * Runs a command in the lab and resolves to its stdout; rejects when it exits with an error, or
   * does not end in time, or is aborted: what runs in the lab may then go on.
   */
  exec(argv: readonly string[], options?: ExecOptions): Promise<string>;
  /** Starts a command in the lab; each line of its stdout goes to `onLine`. Ended by disposal. */
  stream(argv: readonly string[], onLine: (line: string) => void): Promise<LineStream>;
}

/** Where the lab sees this project's code. */
const labAppDir = '/app';

interface LabOptions {
  readonly container: string;
  readonly image: string;
  readonly network: string;
  readonly volume: string;
  /** Host directory of the relays' sockets. */
  readonly sockets: string;
  /** Loop devices that the disk's tool may use. */
  readonly loops: Lease['loops'];
  /** `--label k=v …` of the cluster. */
  readonly labels: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts the lab. It gets the kernel's own /dev, since Docker's is frozen at the start and would
 * never show a loop device made later.
 */
export async function startLab(options: LabOptions): Promise<Lab> {
  const mounts = [
    `${options.volume}:${sharedDir}`,
    `${options.sockets}:${socketDir}`,
    `${projectRoot}:${labAppDir}:ro`,
  ];
  const { container, image, network, labels, signal } = options;
  const place = ['--name', container, '--hostname', container, '--network', network];
  const loops = ['--env', `FORCEDETACH_LOOPS=${driverLoopsOf(options.loops)}`];
  const rights = ['--privileged', '--pid=host', ...loops];
  const volumes = mounts.flatMap((mount) => ['--volume', mount]);
  const flags = [...place, ...rights, ...volumes, '--workdir', labAppDir, ...labels];
  const script = 'mount -t devtmpfs devtmpfs /dev && exec sleep infinity';
  await run(engine.start([...flags, '--entrypoint', 'sh'], image, '-c', script), { signal });
  return labIn(options.container);
}

/** The command on the engine that runs `argv` in the lab, with a stdin. */
export const inLab = (container: string, argv: readonly string[]): string[] =>
  engine.execWithInput(container, ...argv);

export const labIn = (container: string): Lab => ({
  container,
  exec: (argv, options) => run(engine.exec(container, ...argv), options),
  stream: (argv, onLine) => openStream(inLab(container, argv), onLine),
});

/**
 * What was compiled is kept for the next one, which then starts sooner and without the memory that
 * TypeScript takes: 0.29 s of a processor for a command of the disk's tool, not 0.55.
 */
export const labNode: readonly string[] = [
  'env',
  'NODE_COMPILE_CACHE=/tmp/forcedetach-compiled',
  'node',
];

/**
 * For a program whose objects live shortly: both generations are kept small, since node would rather
 * let its heap grow than collect it. Of a million rows a young one of 8 MiB is collected in a tenth
 * less time than one of 2, and takes 20 MiB more at its peak.
 */
export const smallHeap = (youngMib: number): readonly string[] => [
  `--max-semi-space-size=${youngMib}`,
  '--max-old-space-size=64',
];

/** The audit's, in the lab. */
export const auditHeap = smallHeap(8);

export interface ArrayContainerOptions {
  readonly container: string;
  /** Has the array's program and nothing else. */
  readonly image: string;
  /** Runs that program beside a server of a storage protocol. Default: `image` does. */
  readonly server?: string | undefined;
  /** Volume of the engine, or folder: the disks' images lie in it, and the array's socket. */
  readonly source: string;
  /** Where the array sees it. */
  readonly root: string;
  /** Storage network that it serves its paths on, where nodes reach them so. */
  readonly network?: string | undefined;
  /** `--label k=v …` by which it is found again. Default: none. */
  readonly labels?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export async function startArray(options: ArrayContainerOptions): Promise<void> {
  const { container, image, server, source, root, network, labels = [], signal } = options;
  const on = network === undefined ? ['none'] : [network, '--network-alias', storageHost];
  const place = ['--name', container, '--hostname', container, '--network', ...on];
  const volume = ['--volume', `${source}:${root}`];
  const made = ['--label', `${programLabel}=${image}`, ...labels];
  const flags = [...place, '--privileged', ...weighing('array'), ...volume, ...made];
  if (server === undefined) {
    await run(engine.start(flags, image, 'serve', '--root', root), { signal });
  } else {
    await run(engine.runOnce([...volume, ...labels], image, 'install', '--root', root), { signal });
    const program = [arrayProgram(root), 'serve', '--root', root];
    await run(engine.start(flags, server, ...program), { signal });
  }
  const logs = engine.logs(container);
  const command = pasteable(logs);
  await waitFor({ what: 'the array answers', timeoutMs: 30_000, signal, command }, async () => {
    const said = await run(logs);
    return said.includes('listening') || `it says: ${said || 'nothing'}`;
  });
}

/** The array's program, which it leaves where all containers see it. */
export const arrayProgram = (root: string): string => `${root}/bin/forcedetach-array`;

/** Of the container: the image that its program is of. */
const programLabel = 'forcedetach.array';

interface Inspected {
  readonly State: { readonly Status: string };
  readonly Config: { readonly Labels: Readonly<Record<string, string>> };
}

/** Starts it anew where it died or runs another program; paths it served are gone. */
export async function ensureArray(options: ArrayContainerOptions): Promise<void> {
  const [found] = (await inspect('container', [options.container])) as Inspected[];
  const isCurrent = found?.Config.Labels[programLabel] === options.image;
  if (found?.State.Status === 'running' && isCurrent) return;
  if (found !== undefined) await run(engine.remove(options.container));
  await startArray(options);
}

/**
 * Who goes first where the machine's processors are full. A container weighs 1024, and databases,
 * their audits and workers may wait. A controller manager that waits does not: after 10 s without its
 * lease (`leader-elect-renew-deadline`) another takes over, which counts every toleration anew. That
 * was seen with three clusters on two cores: pods were evicted two minutes late.
 */
const cpuWeights = { controlPlane: 8192, array: 4096 } as const;

/** Flags of a container's making, and of its update. */
export const weighing = (who: keyof typeof cpuWeights): readonly string[] => [
  '--cpu-shares',
  String(cpuWeights[who]),
];
