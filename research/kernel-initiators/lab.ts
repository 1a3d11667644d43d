/**
 * What the trials stand on: containers with the servers, and guests, all on the engine's own bridge. A guest's NIC is
 * a tap that ends with its QEMU, and QEMU with this process.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $, inspect, engine, pasteable, run, start } from '../../lib/kind/index.ts';
import { InfrastructureError } from '../../lib/core/index.ts';
import type { GuestFiles } from '../two-kernels/guest-files.ts';
import { strict } from '../two-kernels/host.ts';
import { claimLabLease, type LabLease, releaseLabLease } from '../two-kernels/lab-lease.ts';
import { type Guest, startGuest } from '../two-kernels/vm-host.ts';

export interface LabImages {
  /** tgt and nfs-ganesha. */
  readonly servers: string;
  /** Monitor and OSD. */
  readonly ceph: string;
}

export type ServerContainer = 'servers' | 'ceph';

/** Where a container sees the lab's folder. */
export const inside = '/lab';

interface Bridge {
  readonly name: string;
  /** The first two numbers of its /16. */
  readonly prefix: string;
}

export interface LabGuest extends Guest {
  /** On the bridge. */
  readonly address: string;
  /** Frames between the guest and the bridge are lost; its NIC keeps its carrier. */
  cut(): Promise<void>;
  heal(): Promise<void>;
}

/** Ceph's start takes most of it, where the machine is busy. */
const execTimeoutMs = 300_000;

/** It boots once a lab, however busy the machine is. */
const shape = { memoryMiB: 256, ports: [], bootTimeoutMs: 900_000 } as const;

const nicFlags = (tap: string): string[] => [
  ...['-netdev', `tap,id=storage,ifname=${tap},script=no,downscript=no`],
  ...['-device', 'virtio-net-pci,netdev=storage'],
];

export class KernelLab implements AsyncDisposable {
  readonly folder: string;
  readonly #lease: LabLease;
  readonly #images: LabImages;
  readonly #bridge: Bridge;
  /** Those that still run end with the lab. */
  readonly #guests = new Set<Guest>();
  #count = 0;
  #booting: Promise<unknown> = Promise.resolve();
  readonly #states = new Map<string, Promise<string>>();

  private constructor(lease: LabLease, images: LabImages, bridge: Bridge) {
    this.folder = lease.folder;
    this.#lease = lease;
    this.#images = images;
    this.#bridge = bridge;
  }

  static async open(images: LabImages): Promise<KernelLab> {
    const bridge = await engineBridge();
    const folder = await mkdtemp(join(tmpdir(), 'fd-kernel-initiators-'));
    const lease = await claimLabLease(folder, images.servers, ({ containers, labels }) =>
      start(flagsOf(containers.lab, folder, labels), images.servers, '-c', stays),
    );
    return new KernelLab(lease, images, bridge);
  }

  /** A container for the servers beside the first. */
  async startCeph(): Promise<void> {
    const { containers, labels } = this.#lease;
    const flags = flagsOf(containers.array, this.folder, labels);
    await run(start(flags, this.#images.ceph, '-c', stays));
  }

  async addressOf(which: ServerContainer): Promise<string> {
    return this.exec(which, 'hostname -i');
  }

  exec(which: ServerContainer, script: string): Promise<string> {
    const command = engine.shell(this.#container(which), `set -eu; ${script}`);
    return run(command, { timeoutMs: execTimeoutMs });
  }

  /** Goes on in the container; what it says is in the folder. */
  async background(which: ServerContainer, command: string, log: string): Promise<void> {
    const script = `setsid ${command} </dev/null >${inside}/${log} 2>&1 &`;
    await run(engine.shell(this.#container(which), script));
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(join(this.folder, file), text);
  }

  /** `flags`: more of QEMU's. */
  async guest(name: string, files: GuestFiles, flags: readonly string[] = []): Promise<LabGuest> {
    const saved = await this.#saved(files, flags);
    this.#count += 1;
    const { name: bridge, prefix } = this.#bridge;
    const [lease, number] = [this.#number, this.#count];
    const address = `${prefix}.${200 + lease}.${number}`;
    const tap = `fdk${lease}-${number}`;
    const nic = nicFlags(tap);
    const guest = await startGuest(name, files, { ...shape, flags: [...nic, ...flags], saved });
    this.#guests.add(guest);
    const end = async (): Promise<void> => {
      this.#guests.delete(guest);
      await guest[Symbol.asyncDispose]();
    };
    const heal = async (): Promise<void> => {
      await $({ quiet: true })`ip link set ${tap} master ${bridge} up`;
    };
    await heal();
    // All have the address of the saved one.
    const mac = `52:54:00:00:${hex(lease)}:${hex(number)}`;
    const up = `ip link set eth1 address ${mac}; ip address add ${address}/16 dev eth1`;
    await guest.sh(strict(`${up}; ip link set eth1 up`));
    return {
      ...guest,
      address,
      sh: (script, ...args) => guest.sh(strict(script), ...args),
      heal,
      cut: async () => void (await $({ quiet: true })`ip link set ${tap} nomaster`),
      [Symbol.asyncDispose]: end,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const guest of this.#guests) await guest[Symbol.asyncDispose]();
    await releaseLabLease(this.#lease, this.#images.servers);
  }

  /** A guest of this kind that has booted: a busy machine emulates slowly. */
  #saved(files: GuestFiles, flags: readonly string[]): Promise<string> {
    const key = [files.initramfs, ...flags].join();
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    const file = join(this.folder, `guest-${this.#states.size}`);
    const made = this.#booting.then(async () => {
      const nic = nicFlags(`fdk${this.#number}-s${this.#states.size}`);
      await using guest = await startGuest('saved', files, { ...shape, flags: [...nic, ...flags] });
      await guest.save(file);
      return file;
    });
    // One after the other: each is ready sooner.
    this.#booting = made.catch(() => undefined);
    this.#states.set(key, made);
    return made;
  }

  get #number(): number {
    return Number(/\d+/.exec(this.#lease.containers.lab)?.[0]);
  }

  #container(which: ServerContainer): string {
    const { lab, array } = this.#lease.containers;
    return which === 'servers' ? lab : array;
  }
}

const stays = 'exec sleep infinity';
const hex = (number: number): string => (number % 256).toString(16).padStart(2, '0');

const flagsOf = (name: string, folder: string, labels: readonly string[]): string[] => [
  ...['--init', '--name', name, ...labels, '--privileged'],
  ...['--volume', `${folder}:${inside}`, '--entrypoint', 'sh'],
];

async function engineBridge(): Promise<Bridge> {
  const [found] = (await inspect('network', ['bridge'])) as BridgeNetwork[];
  const name = found?.Options['com.docker.network.bridge.name'];
  const [, prefix] = /^(\d+\.\d+)\.0\.0\/16$/.exec(found?.IPAM.Config[0]?.Subnet ?? '') ?? [];
  if (name !== undefined && prefix !== undefined) return { name, prefix };
  throw new InfrastructureError('NO_BRIDGE', 'the engine has no default bridge with a /16', {
    hint: 'guests get addresses at its end',
    command: pasteable(engine.inspect('network', ['bridge'])),
  });
}

interface BridgeNetwork {
  readonly Options: Readonly<Record<string, string>>;
  readonly IPAM: { readonly Config: readonly { readonly Subnet: string }[] };
}
