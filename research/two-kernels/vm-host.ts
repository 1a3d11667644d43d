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
import { type GuestShell, guestShell } from './guest-shell.ts';
import { type Host, type Node, strict } from './host.ts';
import { Qmp } from './qmp.ts';

/** A stock server takes 400. */
const memoryMiB = 1024;
const shellPort = 1001;
const { port: databasePort } = mysql.pod;
/** Node's pipes are sockets, so that QEMU can talk in both directions over one. */
const qmpFd = 3;
const bootTimeoutMs = 120_000;
const diskTimeoutMs = 30_000;
/** On a busy machine an emulated timer may miss its test, after which a kernel does not boot. */
const kernelArguments = 'console=ttyS0 quiet panic=-1 no_timer_check';

export const vmHost = (files: GuestFiles): Host => ({
  kind: 'vms',
  async start(name): Promise<Node> {
    const bay = ['-device', 'pcie-root-port,id=bay,chassis=1'];
    const guest = await startGuest(name, files, { memoryMiB, ports: [databasePort], flags: bay });
    const sh: Node['sh'] = (script, ...args) => guest.sh(strict(script), ...args);
    return {
      ...{ ...guest, sh, name, databasePort: guest.ports.get(databasePort) ?? 0 },
      attach: (device) => attach({ qmp: guest.qmp, sh }, device),
    };
  },
});

interface GuestShape {
  readonly memoryMiB: number;
  /** Of the guest; this machine reaches each by one of its own. */
  readonly ports: readonly number[];
  /** More of QEMU's. */
  readonly flags: readonly string[];
  /** Default 120 000. */
  readonly bootTimeoutMs?: number;
  /** A saved guest of this shape: it goes on where that was, instead of booting. */
  readonly saved?: string;
}

export interface Guest extends GuestShell, AsyncDisposable {
  readonly qmp: Qmp;
  /** `uname -r` */
  readonly kernel: string;
  /** On this machine, by the guest's. */
  readonly ports: ReadonlyMap<number, number>;
  /** Saves its memory to a file and holds it. */
  save(file: string): Promise<void>;
}

/** It runs scripts when this resolves. */
export async function startGuest(
  name: string,
  files: GuestFiles,
  shape: GuestShape,
): Promise<Guest> {
  const machine = spawnMachine(files, shape);
  try {
    return await boot(name, machine, shape);
  } catch (error) {
    machine.kill('SIGKILL');
    throw error;
  }
}

function spawnMachine(
  { kernel, initramfs, root }: GuestFiles,
  { memoryMiB, ports, flags: more, saved }: GuestShape,
): ChildProcess {
  const forward = [shellPort, ...ports].map((port) => `hostfwd=tcp:127.0.0.1:0-:${port}`);
  const flags = [
    ...['-accel', 'tcg,thread=multi', '-machine', 'q35', '-cpu', 'max', '-smp', '1'],
    ...['-m', String(memoryMiB), '-nodefaults', '-no-reboot', '-display', 'none'],
    ...['-kernel', kernel, '-initrd', initramfs, '-append', kernelArguments],
    ...['-serial', 'stdio', '-chardev', `socket,id=qmp,fd=${qmpFd}`, '-mon', 'qmp,mode=control'],
    ...['-drive', `file=${root},if=virtio,format=raw,readonly=on`],
    ...['-netdev', ['user,id=net,restrict=on', ...forward].join(',')],
    ...['-device', 'virtio-net-pci,netdev=net', ...more],
    ...(saved === undefined ? [] : ['-incoming', `exec:cat ${saved}`]),
  ];
  // A group of its own, so that Ctrl-C does not end it before the case does; the kernel ends it
  // with this process, whatever ends that.
  const argv = ['--pdeathsig', 'KILL', 'qemu-system-x86_64', ...flags];
  return spawn('setpriv', argv, { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true });
}

/** Resolves once the guest runs scripts. */
async function boot(
  name: string,
  machine: ChildProcess,
  { saved, bootTimeoutMs: timeoutMs = bootTimeoutMs }: GuestShape,
): Promise<Guest> {
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
    const options = { what: `the guest ${name} runs scripts`, timeoutMs };
    if (saved !== undefined) await goOn(qmp, options);
    const { kernel } = await waitFor(options, async () => {
      // Sent before its network is up, a script would be waited for in vain.
      if (saved === undefined && !said.includes('guest-ready')) return said;
      return { kernel: await shell.sh('uname -r') };
    });
    return {
      ...{ ...shell, qmp, kernel, ports },
      save: (file) => save(qmp, file),
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

async function save(qmp: Qmp, file: string): Promise<void> {
  await qmp.execute('stop');
  await qmp.execute('migrate', { uri: `exec:cat >${file}` });
  await waitFor({ what: 'the guest is saved', timeoutMs: bootTimeoutMs }, async () => {
    const { status } = (await qmp.execute('query-migrate')) as { readonly status?: string };
    return status === 'completed' || `its saving is ${status}`;
  });
}

async function goOn(qmp: Qmp, options: Parameters<typeof waitFor>[0]): Promise<void> {
  await waitFor(options, async () => {
    const { status } = (await qmp.execute('query-status')) as { readonly status: string };
    return status !== 'inmigrate' || 'its memory is being read';
  });
  await qmp.execute('cont');
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
