/** The lab container: how it is made, and how commands run in it. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { InfrastructureError } from '../../errors.ts';
import { docker, pasteable } from './engine.ts';
import { sharedDir, socketDir } from './kind-config.ts';
import type { Lab, LabStream } from './lab-port.ts';
import type { Lease } from './lease.ts';

/** Where the lab sees this project's code. */
export const labAppDir = '/app';
const projectRoot = fileURLToPath(new URL('../../..', import.meta.url));

export interface LabOptions {
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
  const { first, count } = options.loops;
  const loops = ['--env', `FORCEDETACH_LOOPS=${first}-${first + count - 1}`];
  const rights = ['--privileged', '--pid=host', ...loops];
  const volumes = mounts.flatMap((mount) => ['--volume', mount]);
  const flags = [...place, ...rights, ...volumes, '--workdir', labAppDir, ...labels];
  const script = 'mount -t devtmpfs devtmpfs /dev && exec sleep infinity';
  await docker(['run', '--detach', ...flags, '--entrypoint', 'sh', image, '-c', script], {
    signal,
  });
  return labIn(options.container);
}

export function labIn(container: string): Lab {
  return {
    container,
    exec: (argv) => docker(['exec', container, ...argv]),
    stream: (argv, onLine) => openStream(['docker', 'exec', '-i', container, ...argv], onLine),
  };
}

/**
 * A command that talks in lines for as long as it runs. Disposal closes its stdin, which ends any
 * command that reads it, then kills what is left.
 */
export async function openStream(
  argv: readonly string[],
  onLine: (line: string) => void,
): Promise<LabStream> {
  const [command = '', ...rest] = argv;
  // A session of its own: Ctrl-C ends the run, which then ends this.
  const child = spawn(command, rest, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const said: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.splice(0, said.length - 20, chunk.toString()));
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', onLine);
  let disposed = false;
  const closed = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (disposed) return resolve();
      const why = `\`${argv.slice(0, 5).join(' ')} …\` ended with ${code ?? signal}: ${said.join('')}`;
      reject(new InfrastructureError('STREAM_ENDED', why, { command: pasteable(argv) }));
    });
  });
  // Whoever awaits `closed` sees the error; nobody has to.
  closed.catch(() => undefined);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  return {
    closed,
    write: (line) => void child.stdin.write(`${line}\n`),
    async [Symbol.asyncDispose](): Promise<void> {
      disposed = true;
      child.stdin.end();
      const patience = setTimeout(() => child.kill('SIGKILL'), 1_000);
      await closed.catch(() => undefined);
      clearTimeout(patience);
    },
  };
}
