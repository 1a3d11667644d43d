/** Looks at devices, mounts and the call logs over and over, and tells what changed since. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type CallEntry, callSchema, monotonicMs } from './call-log.ts';
import { imagePath, type Layout } from './layout.ts';
import { bytesWritten, devicePath, isBound, isCut, serves } from './loop-device.ts';
import { loopOf, mountsOf } from './mounts.ts';
import { type Attachment, ownersOf } from './record.ts';
import { readRecords } from './record-store.ts';
import type { WatchLine } from './watch-line.ts';

interface Device {
  readonly volume: string;
  readonly node: string;
  readonly device: string;
  readonly generation: number;
}
type Emit = (line: WatchLine) => void;

export class Watcher {
  /** First process of each node's container, as this process sees it. */
  nodes: ReadonlyMap<string, number> = new Map();
  readonly #layout: Layout;
  readonly #emit: Emit;
  /** Devices seen bound, by `loop/generation`, with what was last said of them. */
  readonly #devices = new Map<string, { written: number; cut: boolean }>();
  /** Devices mounted, by `node/loop/generation`. */
  #mounted = new Map<string, Device>();
  /** How far each call log was read. */
  readonly #offsets = new Map<string, number>();

  constructor(layout: Layout, emit: Emit) {
    this.#layout = layout;
    this.#emit = emit;
  }

  /** What was logged before belongs to others. */
  async skipLogged(): Promise<void> {
    for (const path of await this.#logs()) this.#offsets.set(path, await sizeOf(path));
  }

  async look(): Promise<void> {
    const attachments = await this.#lookAtDevices();
    await this.#lookAtMounts(attachments);
    const entries: CallEntry[] = [];
    for (const path of await this.#logs()) entries.push(...(await this.#tail(path)));
    entries.sort((a, b) => a.monoMs - b.monoMs);
    for (const entry of entries) this.#emit({ type: 'call', entry });
  }

  /** Resolves to the devices that exist, by loop number. */
  async #lookAtDevices(): Promise<Map<number, Device>> {
    const bound = new Map<number, Device>();
    for (const [volume, record] of await readRecords(this.#layout)) {
      for (const [loop, attachment] of ownersOf(record)) {
        const device = await this.#lookAt(volume, loop, attachment);
        if (device !== undefined) bound.set(loop, device);
      }
    }
    return bound;
  }

  async #lookAt(
    volume: string,
    loop: number,
    { node, generation }: Attachment,
  ): Promise<Device | undefined> {
    const key = `${loop}/${generation}`;
    const known = this.#devices.get(key);
    const monoMs = monotonicMs();
    // Whose file is behind it is asked once a device: losetup is a process each time.
    const there =
      known === undefined
        ? await serves(loop, imagePath(this.#layout, volume))
        : await isBound(loop);
    if (!there) {
      this.#devices.delete(key);
      return undefined;
    }
    const device = { volume, node, generation, device: devicePath(loop) };
    const written = (await bytesWritten(loop)) ?? known?.written ?? 0;
    const cut = await isCut(loop);
    const said = { monoMs, ...device, bytesWritten: written };
    if (written !== known?.written) this.#emit({ type: 'written', ...said });
    if (cut && known?.cut !== true) this.#emit({ type: 'cut', ...said });
    this.#devices.set(key, { written, cut });
    return device;
  }

  async #lookAtMounts(bound: ReadonlyMap<number, Device>): Promise<void> {
    const mounted = new Map<string, Device>();
    const monoMs = monotonicMs();
    for (const [node, pid] of this.nodes) {
      // No such process: the node is off, and what it had mounted is not.
      for (const mount of await mountsOf(pid).catch(() => [])) {
        const loop = loopOf(mount);
        const device = loop === undefined ? undefined : bound.get(loop);
        if (device?.node === node)
          mounted.set(`${node}/${device.device}/${device.generation}`, device);
      }
    }
    for (const [key, device] of this.#mounted) {
      if (!mounted.has(key)) this.#emit({ type: 'unmounted', monoMs, ...device });
    }
    for (const [key, device] of mounted) {
      if (!this.#mounted.has(key)) this.#emit({ type: 'mounted', monoMs, ...device });
    }
    this.#mounted = mounted;
  }

  async #logs(): Promise<string[]> {
    const names = await readdir(this.#layout.log).catch(() => []);
    return names
      .filter((name) => /^csi-.*\.jsonl$/.test(name))
      .map((name) => join(this.#layout.log, name));
  }

  /** Whole lines only; the rest of a line is read when it is there. */
  async #tail(path: string): Promise<CallEntry[]> {
    const from = this.#offsets.get(path) ?? 0;
    await using file = await open(path);
    const { size } = await file.stat();
    if (size <= from) return [];
    const { buffer } = await file.read({ buffer: Buffer.alloc(size - from), position: from });
    const end = buffer.lastIndexOf('\n') + 1;
    this.#offsets.set(path, from + end);
    const lines = buffer.toString('utf8', 0, end).split('\n');
    return lines.filter((line) => line !== '').map((line) => callSchema.parse(JSON.parse(line)));
  }
}

async function sizeOf(path: string): Promise<number> {
  await using file = await open(path);
  return (await file.stat()).size;
}
