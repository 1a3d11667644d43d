/** The database's processes on a node: ended, or stopped for a moment. */
import { database } from '../../../database/chosen.ts';
import type { Proof } from '../../../storage/port.ts';
import type { NodeShell } from '../../node-shell.ts';

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

const killedWithinS = 5;

/** Ends servers as a crash does: SIGKILL, and no clean stop. */
export async function killServers(node: NodeShell, withinS = killedWithinS): Promise<Proof> {
  const { server } = database;
  const ended = (await node.sh(killScript, server, withinS)).trim();
  const verified = ended !== '';
  const evidence = verified ? `${server} ended: process ${ended}` : `no ${server} ran`;
  return { verified, evidence };
}

/**
 * Stops processes of the name `$1`. Ends once each thread is stopped, so that no system call is half done;
 * `$2` is the limit in s.
 */
const stopScript = `
pids=$(pgrep -x "$1") || exit 0
kill -STOP $pids
for try in $(seq "$2"0); do
  going=$(for pid in $pids; do grep -L '^State:[[:space:]]T' /proc/$pid/task/*/status; done 2>/dev/null)
  [ -n "$going" ] || exit 0
  sleep 0.1
done
echo "still going: $going" >&2
kill -CONT $pids
exit 1`;

const stoppedWithinS = 10;

/**
 * For where the disk can't hold their writes by itself. Not by a pause of the node: that also stops the
 * file system that some of them wait for, and then never comes to an end. Resolves to what lets them go
 * on. No error where none runs.
 */
export async function stopServers(node: NodeShell): Promise<() => Promise<void>> {
  const { server } = database;
  await node.sh(stopScript, server, stoppedWithinS);
  return async () => {
    await node.sh('pkill -CONT -x "$1" || [ $? = 1 ]', server);
  };
}
