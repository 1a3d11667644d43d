/** A MySQL to measure against: the project's own image, an ext4 volume, the cluster's tunnel. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pRetry from 'p-retry';
import { createConnection } from 'mysql2/promise';
import * as engine from '../../lib/kind/engine/commands.ts';
import { pasteable, run } from '../../lib/kind/engine/run.ts';
import { InfrastructureError } from '../../lib/core/errors.ts';

export interface BenchDatabase extends AsyncDisposable {
  readonly container: string;
  /** Socket of the tunnel: relay on a UNIX socket, then TCP. User root, no password. */
  readonly socketPath: string;
  /** Runs one statement. */
  execute(statement: string): Promise<void>;
}

/**
 * `tools`: reference of the tools image; `device`: an empty block device for the volume, by default
 * a loop device with direct I/O of its own. Everything is gone when disposed.
 */
export async function startDatabase(tools: string, device?: string): Promise<BenchDatabase> {
  const relay = await mkdtemp(join(tmpdir(), 'forcedetach-bench-'));
  const serve = fileURLToPath(new URL('serve.sh', import.meta.url));
  const mounts = ['-v', `${relay}:/relay`, '-v', `${serve}:/serve.sh:ro`, '-v', '/bench'];
  const name = `forcedetach-bench-${process.pid}-${Date.now()}`;
  const socketPath = join(relay, 'mysql.sock');
  const flags = ['--rm', '--privileged', '--name', name, ...mounts];
  const devices = device === undefined ? [] : [device];
  await run(engine.start(flags, tools, 'sh', '/serve.sh', ...devices));
  const dispose = async (): Promise<void> => {
    await run(engine.removeWhole(name));
    await rm(relay, { recursive: true });
  };
  try {
    await pRetry(() => mustListen(name, socketPath), { retries: 300, factor: 1, minTimeout: 200 });
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    container: name,
    socketPath,
    async execute(statement) {
      const connection = await createConnection({ socketPath, user: 'root' });
      await connection.query(statement);
      await connection.end();
    },
    [Symbol.asyncDispose]: dispose,
  };
}

async function mustListen(container: string, socketPath: string): Promise<void> {
  if (existsSync(socketPath)) return;
  throw new InfrastructureError('BENCH_NOT_READY', 'the database of the benchmark did not start', {
    command: pasteable(engine.logs(container)),
  });
}
