/** The clean twins: volumes on which a real server committed what real writers sent. */
import type { JournaledOp, EpochBounds } from '../../lib/judge/index.ts';
import type { Filesystem } from '../../lib/scenario/index.ts';
import { pairOperations } from '../../test/support/pair-operations.ts';
import type { WriterRecord } from '../../lib/run/index.ts';
import type { BareVolume } from '../../test/cluster/bare-volume.ts';
import { fillLedger } from '../../test/cluster/fill-ledger.ts';
import { twoMounts } from './two-mounts.ts';
import { load, seed, slowShutdown, type Workshop } from './workshop.ts';

export interface Base {
  readonly name: string;
  readonly volume: BareVolume;
  /** The same volume about halfway through, recovered and stopped cleanly. */
  readonly older?: BareVolume;
  readonly records: readonly WriterRecord[];
  readonly ops: readonly JournaledOp[];
  readonly moments: EpochBounds;
}

type Maker = (workshop: Workshop, name: string) => Promise<Base>;

const half = 400;

/** One server, stopped cleanly; `last` are its last statements, on one connection. */
const stopped =
  ({ filesystem, last = [] }: { filesystem?: Filesystem; last?: readonly string[] }): Maker =>
  async (workshop, name) => {
    const volume = await workshop.host.newVolume(name, filesystem);
    const disk = await volume.attach('a');
    const server = await disk.startServer();
    const writer = server.write(load, seed, workshop.clock);
    await workshop.untilAcked(writer, half);
    await server.signal('STOP');
    const older = await volume.copy(`${name}-older`);
    await server.signal('CONT');
    await workshop.untilAcked(writer, 2 * half);
    await writer.stop();
    await server.session([...last, slowShutdown]);
    await server.stop();
    await disk.detach();
    await workshop.settle(older);
    const { records } = writer;
    return { name, volume, older, records, ops: [...pairOperations(records)], moments: {} };
  };

/** Stopped while clients wrote, cut off from its disk, then killed. */
const crashed: Maker = async (workshop, name) => {
  const volume = await workshop.host.newVolume(name);
  const disk = await volume.attach('a');
  const server = await disk.startServer();
  const writer = server.write(load, seed, workshop.clock);
  await workshop.untilAcked(writer, half);
  await server.signal('STOP');
  await disk.cut();
  await server.kill();
  await writer.stop();
  await disk.detach();
  const { records } = writer;
  return { name, volume, records, ops: [...pairOperations(records)], moments: {} };
};

/** A victim that was frozen and fenced before its successor came. */
const handedOver: Maker = async (workshop, name) => {
  const schedule = {
    fault: async (victim) => {
      await victim.freeze();
      await victim.disk.cut();
    },
    beside: async (victim, successor) => {
      await successor.end('stop');
      await victim.thaw();
      await victim.end('kill');
    },
  } satisfies Parameters<typeof twoMounts>[2];
  const { volume, records, ops, moments } = await twoMounts(workshop, name, schedule);
  return { name, volume, records, ops, moments };
};

/** A million commits, written as many at once: only how many there are matters. */
const million: Maker = async (workshop, name) => {
  const volume = await workshop.host.newVolume(name);
  const ops = await workshop.served(volume, async (server) => {
    const filled = await fillLedger(server, { rows: 1_000_000, seed });
    await server.query(slowShutdown);
    return filled;
  });
  return { name, volume, records: [], ops, moments: {} };
};

/** A transaction that only the undo log can take back, prepared for a coordinator that never came. */
const prepared = [
  "XA START 'left'",
  'UPDATE forcedetach.account SET balance = balance + 1 WHERE id <= 3',
  "XA END 'left'",
  "XA PREPARE 'left'",
];

const makers = {
  written: stopped({}),
  xfs: stopped({ filesystem: 'xfs' }),
  prepared: stopped({ last: prepared }),
  crashed,
  'handed-over': handedOver,
  million,
} as const satisfies Readonly<Record<string, Maker>>;

export type BaseName = keyof typeof makers;

export const makeBase = (workshop: Workshop, name: BaseName): Promise<Base> =>
  makers[name](workshop, name);
