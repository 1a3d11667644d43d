/**
 * Nodes of one kernel: a container each, with mounts, processes and network of its own, and one
 * loop device over its path to the volume. As a kind node has it.
 */
import { InfrastructureError } from '../../lib/core/index.ts';
import { mysql } from '../../lib/mysql/index.ts';
import { engine, containerShell, copyTimeoutMs, run, tryRun } from '../../lib/kind/index.ts';
import { type Host, type Node, type NodeName, strict } from './host.ts';

export interface LoopHostOptions {
  /** The tools image. */
  readonly image: string;
  /** What the nodes' containers are called. */
  readonly containers: Readonly<Record<NodeName, string>>;
  /** `--label k=v …` of every container. */
  readonly labels: readonly string[];
  /** Processors that each node may use, e.g. 0.25. Default: all there are. */
  readonly cpus?: number;
}

export const loopHost = ({ image, containers, labels, cpus }: LoopHostOptions): Host => ({
  kind: cpus === undefined ? 'loops' : 'slow-loops',
  ...(cpus === undefined ? {} : { cpus }),
  async start(name): Promise<Node> {
    const container = containers[name];
    const flags = [
      ...['--init', '--name', container, '--hostname', name, ...labels],
      ...(cpus === undefined ? [] : ['--cpus', String(cpus)]),
      ...['--privileged', '--publish', `127.0.0.1::${mysql.pod.port}`, '--entrypoint', 'sh'],
    ];
    // Docker's own /dev is a copy made at the start and never shows a later device.
    const main = 'mount -t devtmpfs devtmpfs /dev && exec sleep infinity';
    await run(engine.start(flags, image, '-c', main));
    const published = await run(engine.publishedPort(container, `${mysql.pod.port}/tcp`));
    const kernel = await run(engine.exec(container, 'uname', '-r'));
    return containerNode(name, container, portOf(published), kernel);
  },
});

function containerNode(
  name: NodeName,
  container: string,
  databasePort: number,
  kernel: string,
): Node {
  const shell = containerShell(container, { timeoutMs: copyTimeoutMs });
  const removed = async (): Promise<void> => void (await tryRun(engine.removeWhole(container)));
  return {
    ...{ name, databasePort, kernel, node: container, run: shell.run },
    sh: (script, ...args) => shell.sh(strict(script), ...args),
    attach: (device) => Promise.resolve(device),
    suspend: shell.suspend,
    resume: shell.resume,
    // Gone whole: it is never powered on again.
    powerOff: removed,
    [Symbol.asyncDispose]: removed,
  };
}

/** `127.0.0.1:32768` → 32768 */
function portOf(published: string): number {
  const port = Number(/:(\d+)$/m.exec(published)?.[1]);
  if (Number.isInteger(port)) return port;
  throw new InfrastructureError('NO_PORT', `the engine published no port: ${published}`);
}
