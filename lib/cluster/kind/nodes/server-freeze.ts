/**
 * Stops the database's processes on a node for a moment, where the disk can't hold their writes by
 * itself. Not by a pause of the node: that also stops the file system that some of them wait for, and then
 * never comes to an end.
 */
import * as engine from '../../../engine/commands.ts';
import { run } from '../../../engine/run.ts';

/** Ends once each thread is stopped, so that no system call is half done; `$1` is the limit in s. */
const stopScript = `
pids=$(pgrep -x mysqld) || exit 0
kill -STOP $pids
for try in $(seq "$1"0); do
  going=$(for pid in $pids; do grep -L '^State:[[:space:]]T' /proc/$pid/task/*/status; done 2>/dev/null)
  [ -n "$going" ] || exit 0
  sleep 0.1
done
echo "still going: $going" >&2
kill -CONT $pids
exit 1`;

const patienceS = 10;

/** Resolves to what lets them go on. No error where none runs. */
export async function stopServers(node: string): Promise<() => Promise<void>> {
  await run(engine.shell(node, stopScript, 'stop-servers', String(patienceS)));
  return async () => {
    await run(engine.shell(node, 'pkill -CONT -x mysqld || [ $? = 1 ]'));
  };
}
