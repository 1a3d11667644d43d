/** The machine's own loop devices, for a kubelet beside the test that asks the kernel for any. */
import { machineLoops } from '../../lib/kind/ownership/lease.ts';
import * as engine from '../../lib/kind/engine/commands.ts';
import { run } from '../../lib/kind/engine/run.ts';

/** LOOP_CTL_ADD of linux/loop.h; 17 is EEXIST. Makes these numbers with nothing behind them. */
const addScript = `open F, "+<", "/dev/loop-control" or die "$!\\n";
  for (@ARGV) { ioctl F, 0x4C80, $_ + 0 or $! == 17 or die "loop$_: $!\\n" }`;

/**
 * Makes the loop devices that the kernel gives away to whoever asks it for any, as kubelet does for each raw
 * volume of a pod: it takes an existing one first, which else could be a lease's. They stay. Idempotent.
 */
export async function ensureMachineLoops(tools: string): Promise<void> {
  const { first, count } = machineLoops;
  const numbers = Array.from({ length: count }, (_, index) => String(first + index));
  const flags = ['--privileged', '--network', 'none', '--entrypoint', 'perl'];
  await run(engine.runOnce(flags, tools, '-e', addScript, ...numbers));
}
