/** A victim and its successor on one volume, each with its server and its client. */
import { pairOperations } from '../../test/support/pair-operations.ts';
import type { JournaledOp, EpochBounds } from '../../lib/judge/index.ts';
import type { WriterRecord } from '../../lib/run/index.ts';
import type { BareDisk, BareVolume } from '../../test/cluster/bare-volume.ts';
import type { BareServer, Written } from '../../test/cluster/bare-server.ts';
import { seed, type Workshop } from './workshop.ts';

/** Commits of each side before the next step. */
const turn = 200;
const victimLoad = { client: 'inside', connections: 4, rate: 200 } as const;
const successorLoad = { ...victimLoad, client: 'outside' } as const;
const sectorBytes = 512;

export class Side {
  readonly disk: BareDisk;
  readonly server: BareServer;
  readonly writer: Written;

  private constructor(disk: BareDisk, server: BareServer, writer: Written) {
    this.disk = disk;
    this.server = server;
    this.writer = writer;
  }

  static async serve(
    workshop: Workshop,
    volume: BareVolume,
    { node, undo }: { readonly node: 'a' | 'b'; readonly undo: AsyncDisposableStack },
  ): Promise<Side> {
    const disk = await volume.attach(node);
    undo.defer(() => disk.detach());
    const server = await disk.startServer();
    undo.defer(() => server.kill());
    const spec = node === 'a' ? victimLoad : successorLoad;
    const writer = server.write(spec, seed, workshop.clock);
    undo.defer(() => writer.stop());
    await workshop.untilAcked(writer, turn);
    return new Side(disk, server, writer);
  }

  freeze(): Promise<void> {
    return this.server.signal('STOP');
  }

  thaw(): Promise<void> {
    return this.server.signal('CONT');
  }

  async end(how: 'stop' | 'kill'): Promise<void> {
    await this.writer.stop();
    await this.server[how]();
  }
}

export interface Schedule {
  /**
   * What becomes of the victim before its successor mounts. Leaves it still: a successor that
   * recovers beside a server that writes may crash (InnoDB's trx_undo_lists_init; on a slow disk
   * in three of three), and then there are no two.
   */
  readonly fault: (victim: Side) => Promise<void>;
  /** What both do until the successor has detached and the victim has ended. */
  readonly beside: (victim: Side, successor: Side) => Promise<void>;
}

export interface TwoMounts {
  readonly volume: BareVolume;
  readonly records: readonly WriterRecord[];
  readonly ops: readonly JournaledOp[];
  readonly moments: EpochBounds;
  /** Bytes that came to each side's device once the successor had begun. */
  readonly victimBytes: number;
  readonly successorBytes: number;
}

/** Leaves nothing behind where it throws. */
export async function twoMounts(
  workshop: Workshop,
  name: string,
  { fault, beside }: Schedule,
): Promise<TwoMounts> {
  await using undo = new AsyncDisposableStack();
  const volume = await workshop.host.newVolume(name);
  undo.defer(() => workshop.discard(volume));
  const victim = await Side.serve(workshop, volume, { node: 'a', undo });
  await fault(victim);
  const faultAtMs = workshop.clock.nowMs();
  const before = await bytesWritten(workshop, 'a');
  const successor = await Side.serve(workshop, volume, { node: 'b', undo });
  await beside(victim, successor);
  const victimBytes = (await bytesWritten(workshop, 'a')) - before;
  const successorBytes = await bytesWritten(workshop, 'b');
  await successor.disk.detach();
  await victim.disk.detach();
  const records = [...victim.writer.records, ...successor.writer.records];
  const moments = { faultAtMs, handoverAtMs: faultAtMs, victimNode: 'a' };
  const ops = [...pairOperations(records)];
  undo.move();
  return { volume, records, ops, moments, victimBytes, successorBytes };
}

async function bytesWritten({ host }: Workshop, node: 'a' | 'b'): Promise<number> {
  const sectors = await host.sh(`awk '{ print $7 }' "/sys/block/loop$1/stat"`, host.loops[node]);
  return Number(sectors) * sectorBytes;
}
