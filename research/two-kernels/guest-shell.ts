/**
 * A node that is a virtual machine: a port of this machine leads to a shell in it, and QEMU holds or ends
 * all of it. Nothing starts it anew: its memory is gone with its process.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import {
  type Ended,
  type NodeRunOptions,
  posixLine,
  shBy,
  type ShellWith,
} from '../../lib/run/index.ts';
import type { Qmp } from './qmp.ts';

/** A script on a paused or lost guest never answers. */
const scriptTimeoutMs = 180_000;
const exitMark = 'forcedetach-exit';
const exitPattern = new RegExp(`${exitMark} (\\d+)\n$`);
/** Reads nothing of the connection, and says all in one. */
const apart = ['sh', '-c', 'exec </dev/null 2>&1; exec "$@"', 'sh'];

export type GuestShell = ShellWith<'suspend' | 'resume' | 'powerOff'>;

export interface GuestWays {
  readonly machine: ChildProcess;
  readonly qmp: Pick<Qmp, 'execute'>;
  /** Port of this machine; who connects to it has a shell in the guest. */
  readonly port: number;
}

/** `machine` runs still. */
export function guestShell(node: string, { machine, qmp, port }: GuestWays): GuestShell {
  const exited = once(machine, 'close');
  const run = (argv: readonly string[], options: NodeRunOptions = {}): Promise<Ended> => {
    const command = posixLine([...apart, ...argv]);
    return converse(port, `${command}; echo "${exitMark} $?"; exit\n`, options);
  };
  return {
    ...{ node, run, sh: shBy({ node, run }) },
    suspend: async () => void (await qmp.execute('stop')),
    resume: async () => void (await qmp.execute('cont')),
    /** SIGKILL: an orderly quit would flush what the guest did not. */
    powerOff: async () => {
      machine.kill('SIGKILL');
      await exited;
    },
  };
}

/**
 * Sends a script and resolves to what it said until its exit mark. The end of the connection is not
 * waited for: QEMU's user network now and then keeps one side's end to itself.
 */
async function converse(
  port: number,
  text: string,
  { signal, timeoutMs = scriptTimeoutMs }: NodeRunOptions,
): Promise<Ended> {
  const socket = connect({ port, host: '127.0.0.1', ...(signal === undefined ? {} : { signal }) });
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error('the guest does not answer')));
  socket.setEncoding('utf8').write(text);
  let said = '';
  for await (const chunk of socket) {
    said += String(chunk);
    const end = exitPattern.exec(said);
    if (end !== null) return endedWith(Number(end[1]), said.slice(0, end.index));
  }
  return endedWith(-1, said);
}

const endedWith = (exitCode: number, said: string): Ended => ({
  ...{ exitCode, stdout: said.trim(), stderr: '' },
});
