/** What the shell of a node does to its agents (kubelet and containerd) and to the database's processes. */
import { linesOf } from '../engine/run.ts';
import { type Proof, type Stall, stalls, type NodeShell } from '../../run/index.ts';

/** `act`: for each unit that runs, as `$unit` with its main process `$pid`. */
const onUnits = (node: NodeShell, units: readonly string[], act: string): Promise<string> => {
  const script = `
for unit do
  pid=$(systemctl show --property MainPID --value "$unit")
  [ "\${pid:-0}" -gt 0 ] || continue
  ${act}
done`;
  return node.sh(script, ...units);
};

export async function stallAgents(node: NodeShell, what: Stall): Promise<void> {
  await onUnits(node, stalls[what], 'kill -STOP "$pid"');
}

export async function resumeAgents(node: NodeShell): Promise<void> {
  await onUnits(node, stalls.runtime, 'kill -CONT "$pid"');
}

export async function stalledAgents(node: NodeShell): Promise<string[]> {
  const act = `case $(cut -d ' ' -f 3 "/proc/$pid/stat") in T) echo "$unit" ;; esac`;
  return linesOf(await onUnits(node, stalls.runtime, act));
}

export async function restartKubelet(
  node: NodeShell,
): Promise<{ readonly before: string | undefined; readonly after: string | undefined }> {
  const look = async (): Promise<string | undefined> =>
    (await onUnits(node, stalls.kubelet, 'echo "$pid"')) || undefined;
  const before = await look();
  await node.sh('systemctl restart kubelet');
  return { before, after: await look() };
}

/**
 * Processes of the name `$1`: prints which ended; fails where one is still there after `$2` s, as one is
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

/** Ends servers as a crash does: SIGKILL, and no clean stop. `server`: the program. */
export async function killServers(node: NodeShell, server: string, withinS = 5): Promise<Proof> {
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
export async function stopServers(node: NodeShell, server: string): Promise<() => Promise<void>> {
  await node.sh(stopScript, server, stoppedWithinS);
  return async () => {
    await node.sh('pkill -CONT -x "$1" || [ $? = 1 ]', server);
  };
}

/** systemd stops what it started after others first: containers and their mounts wait for `$unit`, the agents do not. */
const hangScript = `
units=/run/systemd/system unit=forcedetach-hang.service
for before in cri-containerd-.scope var-lib-kubelet-.mount; do
  mkdir -p "$units/$before.d"
  printf '[Unit]\\nBefore=%s\\n' "$unit" >"$units/$before.d/hang.conf"
done
printf '%s\\n' '[Service]' Type=oneshot RemainAfterExit=yes \
  'ExecStop=/bin/sleep infinity' TimeoutStopSec=infinity >"$units/$unit"
systemctl daemon-reload && systemctl start "$unit" && systemctl poweroff
for try in $(seq 300); do
  pgrep -x kubelet >/dev/null || pgrep -x containerd >/dev/null || break
  sleep 0.1
done
echo "kubelet: $(systemctl is-active kubelet), containerd: $(systemctl is-active containerd)"`;

/** /run is gone with the boot. */
export async function hangInShutdown(node: NodeShell): Promise<Proof> {
  const evidence = (await node.sh(hangScript)).trim();
  return { verified: evidence === 'kubelet: inactive, containerd: inactive', evidence };
}
