/**
 * The array's container: the disk's data path, one for each cluster. It runs beside the nodes and
 * not in them, so that it survives their death as a real storage array does.
 */
import * as engine from '../../../engine/commands.ts';
import { pasteable } from '../../../engine/pasteable.ts';
import { inspect, run } from '../../../engine/run.ts';
import { waitFor } from '../../../wait-for.ts';

export interface ArrayContainerOptions {
  readonly container: string;
  readonly image: string;
  /** Volume of the engine, or folder: the disks' images lie in it, and the array's socket. */
  readonly source: string;
  /** Where the array sees it. */
  readonly root: string;
  /** `--label k=v …` by which it is found again. Default: none. */
  readonly labels?: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** Starts it and resolves once it answers. */
export async function startArray(options: ArrayContainerOptions): Promise<void> {
  const { container, image, source, root, labels = [], signal } = options;
  const place = ['--name', container, '--hostname', container, '--network', 'none'];
  const volume = ['--volume', `${source}:${root}`];
  const flags = [...place, '--privileged', ...weighing('array'), ...volume, ...labels];
  await run(engine.start(flags, image, 'serve', '--root', root), { signal });
  const logs = engine.logs(container);
  const command = pasteable(logs);
  await waitFor({ what: 'the array answers', timeoutMs: 30_000, signal, command }, async () => {
    const said = await run(logs);
    return said.includes('listening') || `it says: ${said || 'nothing'}`;
  });
}

interface Inspected {
  readonly Image: string;
  readonly State: { readonly Status: string };
}

/** Starts it anew where it died or runs another image than `imageId`; paths it served are gone. */
export async function ensureArray(
  options: ArrayContainerOptions,
  imageId: string | undefined,
): Promise<void> {
  const [found] = (await inspect('container', [options.container])) as Inspected[];
  if (found?.State.Status === 'running' && found.Image === imageId) return;
  if (found !== undefined) await run(engine.remove(options.container));
  await startArray(options);
}

/**
 * Who goes first where the machine's processors are full. A container weighs 1024, and databases,
 * their audits and workers may wait. A controller manager that waits does not: after 10 s without its
 * lease (`leader-elect-renew-deadline`) another takes over, which counts every toleration anew. That
 * was seen with three clusters on two cores: pods were evicted two minutes late.
 */
export const cpuWeights = { controlPlane: 8192, array: 4096 } as const;

/** Flags of a container's making, and of its update. */
export const weighing = (who: keyof typeof cpuWeights): readonly string[] => [
  '--cpu-shares',
  String(cpuWeights[who]),
];
