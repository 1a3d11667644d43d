/** Ends the database's processes on a node, as a crash of the server does: SIGKILL, and no clean stop. */
import type { Proof } from '../../port.ts';
import * as engine from '../../../engine/commands.ts';
import { run } from '../../../engine/run.ts';

/** Says which ended; fails where one is still there after `$1` s, as one is that waits for the disk. */
const killScript = `
pids=$(pgrep -x mysqld) || exit 0
kill -KILL $pids
for try in $(seq "$1"0); do
  left=$(for pid in $pids; do [ ! -e "/proc/$pid" ] || echo "$pid"; done)
  [ -n "$left" ] || break
  sleep 0.1
done
[ -z "$left" ] || { echo "still there: $left" >&2; exit 1; }
echo $pids`;

const patienceS = 5;

export async function killServers(node: string): Promise<Proof> {
  const kill = engine.shell(node, killScript, 'kill-servers', String(patienceS));
  const ended = (await run(kill)).trim();
  const verified = ended !== '';
  return { verified, evidence: verified ? `mysqld ended: process ${ended}` : 'no mysqld ran' };
}
