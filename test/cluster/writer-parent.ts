/** A runner that writer.test.ts kills: starts two writers and tells their process numbers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { $ } from '../../lib/kind/engine/shell.ts';
import { startWriterProcesses } from '../../lib/kind/clients/writers.ts';
import { mysql } from '../../lib/mysql/database.ts';

const { FOLDER: folder = '', SOCKET: socket = '', SEED: seed = '' } = process.env;
const spec = { connections: 2, rate: 'max', seed } as const;
const writers = await startWriterProcesses({
  real: mysql.real,
  specs: [
    { ...spec, client: 'inside' },
    { ...spec, client: 'outside' },
  ],
  folder,
  originNs: process.hrtime.bigint(),
  seed,
  routes: { way: () => ({ socketPath: socket }), onChange: () => undefined },
});
while (writers.acked().length < 2) await sleep(50);
const shell = $({ quiet: true });
const found = await shell`pgrep -P ${process.pid} -f writer-process`;
process.send?.(found.stdout.trim().split('\n').map(Number));
await sleep(60_000);
