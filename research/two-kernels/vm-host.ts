/**
 * Nodes with a kernel each: small virtual machines, emulated, since a nested /dev/kvm need not work.
 * Each gets its own path to the volume as a raw disk, without the machine's page cache.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Duplex } from 'node:stream';
import { mysql } from '../../lib/mysql/index.ts';
import { pasteable } from '../../lib/kind/index.ts';
import { waitFor, InfrastructureError } from '../../lib/core/index.ts';
import type { GuestFiles } from './guest-files.ts';
import { guestShell } from './guest-shell.ts';
import { type Host, type Node, type NodeName, strict } from './host.ts';
import { Qmp } from './qmp.ts';

/** Memory of a guest; a stock server takes 400. */
const memoryMiB = 1024;
const shellPort = 1001;
const { port: databasePort } = mysql.pod;
/** Node's pipes are sockets, so that QEMU can talk in both directions over one. */
const qmpFd = 3;
const bootTimeoutMs = 120_000;
const diskTimeoutMs = 30_000;
/** On a busy machine an emulated timer may miss its test, after which a kernel does not boot. */
const kernelArguments = 'console=ttyS0 quiet panic=-1 no_timer_check';

export function vmHost(files: GuestFiles): Host {
  return {
    kind: 'vms',
    async start(name): Promise<Node> {
      const machine = spawnMachine(files);
      try {
        return await boot(name, machine);
      } catch (error) {
        machine.kill('SIGKILL');
        throw error;
      }
    },
  };
}

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

/** Resolves once the guest runs scripts. */
async function boot(name: NodeName, machine: ChildProcess): Promise<Node> {
  let said = '';
  const keep = (chunk: Buffer): void => {
    said = `${said}${String(chunk)}`.slice(-4096);
  };
  machine.stdout?.on('data', keep);
  machine.stderr?.on('data', keep);
  try {
    const qmp = new Qmp(machine.stdio[qmpFd] as Duplex);
    const ports = portsIn(String(await qmp.execute('human-monitor-command', infoNetwork)));
    const shell = guestShell(name, { machine, qmp, port: ports.get(shellPort) ?? 0 });
    const options = { what: `the guest ${name} runs scripts`, timeoutMs: bootTimeoutMs };
    const { kernel } = await waitFor(options, async () => {
      // Sent before its network is up, a script would be waited for in vain.
      if (!said.includes('guest-ready')) return said;
      return { kernel: await shell.sh('uname -r') };
    });
    const sh: Node['sh'] = (script, ...args) => shell.sh(strict(script), ...args);
    return {
      ...{ ...shell, sh, name, kernel, databasePort: ports.get(databasePort) ?? 0 },
      attach: (device) => attach({ qmp, sh }, device),
      [Symbol.asyncDispose]: async () => {
        if (machine.exitCode === null && machine.signalCode === null) await shell.powerOff();
      },
    };
  } catch (cause) {
    const command = pasteable(machine.spawnargs);
    const why = `the guest ${name} did not start: ${said.slice(-1000)}`;
    throw new InfrastructureError('GUEST_FAILED', why, { cause, command });
  }
}

/** Resolves to the device's name in the guest. */
async function attach(
  { qmp, sh }: { readonly qmp: Qmp; readonly sh: Node['sh'] },
  device: string,
): Promise<string> {
  await qmp.execute('blockdev-add', {
    ...{ driver: 'host_device', 'node-name': 'volume', filename: device, locking: 'off' },
    ...{ cache: { direct: true, 'no-flush': false }, aio: 'threads' },
  });
  await qmp.execute('device_add', {
    ...{ driver: 'virtio-blk-pci', bus: 'bay', drive: 'volume', id: 'disk' },
    // By default QEMU stops a guest whose disk is full; a cut path looks like that to it.
    ...{ werror: 'report', rerror: 'report' },
  });
  const options = { what: 'the guest sees its disk', timeoutMs: diskTimeoutMs, everyMs: 100 };
  await waitFor(options, async () => (await sh('ls /dev')).includes('vdb') || 'no /dev/vdb');
  return '/dev/vdb';
}

const infoNetwork = { 'command-line': 'info usernet' };

/** Ports on the host by the guest's. A line is `TCP[HOST_FORWARD] 12 127.0.0.1 40123 10.0.2.15 1001 0 0`. */
function portsIn(table: string): Map<number, number> {
  const rows = table.matchAll(/HOST_FORWARD\]\s+\d+\s+\S+\s+(\d+)\s+\S+\s+(\d+)/g);
  return new Map([...rows].map(([, host, guest]) => [Number(guest), Number(host)]));
}
