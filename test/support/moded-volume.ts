/** A volume on an array without devices, which nodes attach, open and detach in a mode. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  attachVolume,
  detachVolume,
  decideStage,
  type NodeTaints,
} from '../../lib/storage/csi/backend.ts';
import type { CallNotes } from '../../lib/storage/csi/grpc.ts';
import { layoutOf } from '../../lib/storage/csi/layout.ts';
import type { StorageBackend } from '../../lib/storage/csi/paths.ts';
import { neededRecord } from '../../lib/storage/csi/record.ts';
import { readAttributes } from '../../lib/storage/csi/requests.ts';
import { createVolume } from '../../lib/storage/csi/volumes.ts';
import { FakeArray } from './fake-array.ts';

export const volume = 'pv';
export const seconds = 1e9;
/** No machine has devices of such numbers. */
export const loops = { first: 900000, last: 900007 };
const noTaints: NodeTaints = () => Promise.resolve([]);

interface Asked {
  readonly context?: Readonly<Record<string, string>>;
  readonly manyNodes?: boolean;
}

export class ModedVolume {
  readonly array = new FakeArray();
  readonly backend: StorageBackend;
  readonly notes: CallNotes = {};

  private constructor() {
    const layout = layoutOf(mkdtempSync(join(tmpdir(), 'forcedetach-modes-')));
    this.backend = { layout, array: this.array };
  }

  static async make(): Promise<ModedVolume> {
    const made = new ModedVolume();
    await createVolume(made.backend, { volume, sizeBytes: 2 ** 20, shared: false });
    return made;
  }

  async attach(node: string, detachMode: string, asked: Asked = {}): Promise<number> {
    const { context = {}, manyNodes = false } = asked;
    const attributes = readAttributes({ detachMode, ...context });
    const request = { volume, node, attributes, manyNodes, notes: this.notes };
    return (await attachVolume(this.backend, loops, request)).generation;
  }

  /** As staging does, without a mount. */
  async open(node: string): Promise<void> {
    const { backend, notes } = this;
    const { attributes, attachments } = await neededRecord(backend.layout, volume);
    await decideStage({ backend, volume, node, attributes, notes });
    const held = attachments.findLast((each) => each.node === node);
    if (held === undefined) throw new TypeError(`${node} has no attachment`);
    const { generation, loop } = held;
    const how = { keepData: false, flushes: 'honest' } as const;
    await this.array.open({ volume, node, generation, loop, ...how });
  }

  detach(node: string, taints = noTaints): Promise<unknown> {
    return detachVolume(this.backend, { volume, node, taints, notes: this.notes });
  }

  async stateOf(generation: number): Promise<string | undefined> {
    const paths = await this.array.status(volume);
    return paths.find((path) => path.generation === generation)?.state;
  }

  remove(): Promise<void> {
    return rm(this.backend.layout.root, { recursive: true });
  }
}
