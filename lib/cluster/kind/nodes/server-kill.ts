/** Ends the database's processes on a node, as a crash of the server does: SIGKILL, and no clean stop. */
import { database } from '../../../database/chosen.ts';
import type { Proof } from '../../../storage/port.ts';
import * as engine from '../../../engine/commands.ts';
import { run } from '../../../engine/run.ts';

/**
 * Processes of the name `$1`: says which ended; fails where one is still there after `$2` s, as one is
 * that waits for the disk.
 */
const killScript = `
pids=$(pgrep -x "$1") || exit 0
kill -KILL $pids
for try in $(seq "$2"0); do
  left=$(for pid in $pids; do [ ! -e "/proc/$pid" ] || echo "$pid"; done)
  [ -n "$left" ] || break
  sleep 0.1
done
[ -z "$left" ] || { echo "still there: $left" >&2; exit 1; }
echo $pids`;

const patienceS = 5;

export async function killServers(node: string): Promise<Proof> {
  const { server } = database;
  const kill = engine.shell(node, killScript, 'kill-servers', server, String(patienceS));
  const ended = (await run(kill)).trim();
  const verified = ended !== '';
  const evidence = verified ? `${server} ended: process ${ended}` : `no ${server} ran`;
  return { verified, evidence };
}
