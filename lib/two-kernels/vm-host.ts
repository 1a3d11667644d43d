/**
 * Nodes with a kernel each: small virtual machines, emulated, since a nested /dev/kvm need not work.
 * Each gets its own path to the volume as a raw disk, without the machine's page cache.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { database } from '../database/chosen.ts';
import { pasteable } from '../engine/run.ts';
import { waitFor } from '../cluster/kind/wait.ts';
import { InfrastructureError } from '../errors.ts';
import type { GuestFiles } from './guest-files.ts';
import { scriptWords } from '../cluster/node-shell.ts';
import { type Host, type Node, type NodeName, posixLine, strict } from './host.ts';
import { Qmp } from './qmp.ts';

/** Memory of a guest; a stock server takes 400. */
const memoryMiB = 1024;
const shellPort = 1001;
const { port: databasePort } = database.pod;
/** Node's pipes are sockets, so that QEMU can talk in both directions over one. */
const qmpFd = 3;
const bootTimeoutMs = 120_000;
/** A script on a paused or lost guest never answers. */
const scriptTimeoutMs = 180_000;
const diskTimeoutMs = 30_000;
/** On a busy machine an emulated timer may miss its test, after which a kernel does not boot. */
const kernelArguments = 'console=ttyS0 quiet panic=-1 no_timer_check';
const exitMark = 'forcedetach-exit';
const exitPattern = new RegExp(`${exitMark} (\\d+)\n$`);

export const vmHost = (files: GuestFiles): Host => ({
  kind: 'vms',
  async start(name): Promise<Node> {
    const machine = spawnMachine(files);
    try {
      return await Guest.boot(name, machine);
    } catch (error) {
      machine.kill('SIGKILL');
      throw error;
    }
  },
});

function spawnMachine({ kernel, initramfs, root }: GuestFiles): ChildProcess {
  const forward = [shellPort, databasePort].map((port) => `hostfwd=tcp:127.0.0.1:0-:${port}`);
  const flags = [
    ...['-accel', 'tcg,thread=multi', '-machine', 'q35', '-cpu', 'max', '-smp', '1'],
    ...['-m', String(memoryMiB), '-nodefaults', '-no-reboot', '-display', 'none'],
    ...['-kernel', kernel, '-initrd', initramfs, '-append', kernelArguments],
    ...['-serial', 'stdio', '-chardev', `socket,id=qmp,fd=${qmpFd}`, '-mon', 'qmp,mode=control'],
    ...['-drive', `file=${root},if=virtio,format=raw,readonly=on`],
    ...['-netdev', ['user,id=net,restrict=on', ...forward].join(',')],
    ...['-device', 'virtio-net-pci,netdev=net', '-device', 'pcie-root-port,id=bay,chassis=1'],
  ];
  // A group of its own, so that Ctrl-C does not end it before the case does; the kernel ends it
  // with this process, whatever ends that.
  const argv = ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...flags];
  return spawn('setpriv', argv, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true });
}

class Guest implements Node {
  readonly name: NodeName;
  readonly #machine: ChildProcess;
  readonly #qmp: Qmp;
  readonly #exited: Promise<unknown>;
  #ports: ReadonlyMap<number, number> = new Map();
  #kernel = '';

  private constructor(name: NodeName, machine: ChildProcess) {
    this.name = name;
    this.#machine = machine;
    this.#exited = once(machine, 'close');
    this.#qmp = new Qmp(machine.stdio[qmpFd] as Duplex);
  }

  /** Resolves once the guest runs scripts. */
  static async boot(name: NodeName, machine: ChildProcess): Promise<Guest> {
    let said = '';
    const keep = (chunk: Buffer): void => {
      said = `${said}${String(chunk)}`.slice(-4096);
    };
    machine.stdout?.on('data', keep);
    machine.stderr?.on('data', keep);
    const guest = new Guest(name, machine);
    try {
      guest.#ports = portsIn(
        String(await guest.#qmp.execute('human-monitor-command', infoNetwork)),
      );
      const options = { what: `the guest ${name} runs scripts`, timeoutMs: bootTimeoutMs };
      await waitFor(options, async () => {
        // Sent before its network is up, a script would be waited for in vain.
        if (!said.includes('guest-ready')) return said;
        guest.#kernel = await guest.sh('uname -r');
        return true;
      });
      return guest;
    } catch (cause) {
      const command = pasteable(machine.spawnargs);
      const why = `the guest ${name} did not start: ${said.slice(-1000)}`;
      throw new InfrastructureError('GUEST_FAILED', why, { cause, command });
    }
  }

  get databasePort(): number {
    return this.#ports.get(databasePort) ?? 0;
  }

  get kernel(): string {
    return this.#kernel;
  }

  async sh(script: string, ...args: readonly (string | number)[]): Promise<string> {
    const command = posixLine(scriptWords(strict(script), args));
    const text = `${command}; echo "${exitMark} $?"; exit\n`;
    const { output, exitCode } = await converse(this.#ports.get(shellPort) ?? 0, text);
    if (exitCode === '0') return output;
    const why = `on the ${this.name}, exit code ${exitCode}: ${output.slice(-1000)}`;
    throw new InfrastructureError('COMMAND_FAILED', why, { command });
  }

  async attach(device: string): Promise<string> {
    await this.#qmp.execute('blockdev-add', {
      ...{ driver: 'host_device', 'node-name': 'volume', filename: device, locking: 'off' },
      ...{ cache: { direct: true, 'no-flush': false }, aio: 'threads' },
    });
    await this.#qmp.execute('device_add', {
      ...{ driver: 'virtio-blk-pci', bus: 'bay', drive: 'volume', id: 'disk' },
      // By default QEMU stops a guest whose disk is full; a cut path looks like that to it.
      ...{ werror: 'report', rerror: 'report' },
    });
    const options = { what: 'the guest sees its disk', timeoutMs: diskTimeoutMs, everyMs: 100 };
    await waitFor(options, async () => (await this.sh('ls /dev')).includes('vdb') || 'no /dev/vdb');
    return '/dev/vdb';
  }

  async suspend(): Promise<void> {
    await this.#qmp.execute('stop');
  }

  async resume(): Promise<void> {
    await this.#qmp.execute('cont');
  }

  /** SIGKILL: an orderly quit would flush what the guest did not. */
  async powerOff(): Promise<void> {
    this.#machine.kill('SIGKILL');
    await this.#exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#machine.exitCode === null && this.#machine.signalCode === null) await this.powerOff();
  }
}

const infoNetwork = { 'command-line': 'info usernet' };

/** Ports on the host by the guest's. A line is `TCP[HOST_FORWARD] 12 127.0.0.1 40123 10.0.2.15 1001 0 0`. */
function portsIn(table: string): Map<number, number> {
  const rows = table.matchAll(/HOST_FORWARD\]\s+\d+\s+\S+\s+(\d+)\s+\S+\s+(\d+)/g);
  return new Map([...rows].map(([, host, guest]) => [Number(guest), Number(host)]));
}

/**
 * Sends a script and resolves to what it said until its exit mark. The end of the connection is not
 * waited for: QEMU's user network now and then keeps one side's end to itself.
 */
async function converse(port: number, text: string): Promise<{ output: string; exitCode: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(scriptTimeoutMs, () => socket.destroy(new Error('the guest does not answer')));
  socket.setEncoding('utf8').write(text);
  let said = '';
  for await (const chunk of socket) {
    said += String(chunk);
    const end = exitPattern.exec(said);
    if (end !== null) return { output: said.slice(0, end.index).trim(), exitCode: end[1] ?? '' };
  }
  return { output: said.trim(), exitCode: 'unknown' };
}
