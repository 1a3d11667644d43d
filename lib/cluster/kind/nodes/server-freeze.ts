/**
 * Stops the database's processes on a node for a moment, where the disk can't hold their writes by
 * itself. Not by a pause of the node: that also stops the file system that some of them wait for, and then
 * never comes to an end.
 */
import { database } from '../../../database/chosen.ts';
import * as engine from '../../../engine/commands.ts';
import { run } from '../../../engine/run.ts';

/**
 * Of processes of the name `$1`. Ends once each thread is stopped, so that no system call is half done;
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

const patienceS = 10;

/** Resolves to what lets them go on. No error where none runs. */
export async function stopServers(node: string): Promise<() => Promise<void>> {
  const { server } = database;
  await run(engine.shell(node, stopScript, 'stop-servers', server, String(patienceS)));
  return async () => {
    await run(engine.shell(node, 'pkill -CONT -x "$1" || [ $? = 1 ]', 'go-on', server));
  };
}
