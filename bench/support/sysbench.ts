/** sysbench's single-row inserts: what a C client reaches on the same server. */
import { InfrastructureError } from '../../lib/core/errors.ts';
import { tryRun } from '../../lib/kind/engine/run.ts';

const database = 'sbtest';

function command(socketPath: string, step: string, options: readonly string[] = []): string[] {
  return [
    'sysbench',
    'oltp_insert',
    '--db-driver=mysql',
    '--mysql-user=root',
    `--mysql-socket=${socketPath}`,
    `--mysql-db=${database}`,
    '--tables=1',
    '--table-size=1000',
    '--skip-trx',
    ...options,
    step,
  ];
}

async function sysbench(
  socketPath: string,
  step: string,
  options?: readonly string[],
): Promise<string> {
  const argv = command(socketPath, step, options);
  const { exitCode, stdout, stderr } = await tryRun(argv);
  if (exitCode === 0) return stdout;
  throw new InfrastructureError('SYSBENCH_FAILED', `sysbench ${step} failed: ${stdout} ${stderr}`, {
    hint: 'sysbench and its MySQL driver must be installed',
    command: 'apt-get install --no-install-recommends sysbench',
  });
}

export interface Load {
  readonly connections: number;
  readonly seconds: number;
}

/** Inserts per second into a new table. */
export async function sysbenchInserts(
  socketPath: string,
  { connections, seconds }: Load,
): Promise<number> {
  await sysbench(socketPath, 'cleanup');
  await sysbench(socketPath, 'prepare');
  const options = [`--threads=${connections}`, `--time=${seconds}`];
  const said = await sysbench(socketPath, 'run', options);
  const found = /transactions:\s+\d+\s+\((?<rate>[\d.]+) per sec\.\)/.exec(said);
  return Number(found?.groups?.['rate']);
}
