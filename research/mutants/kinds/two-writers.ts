/** No damage by hand: what two mounts, a zombie or a false fsync really do to a volume. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DamageClass } from '../damage-class.ts';
import { ackedIn } from '../../../test/support/bare-images.ts';
import { pairOperations } from '../../../test/support/pair-operations.ts';
import type { Mutant, Planted, Plot } from '../mutant.ts';
import { twoMounts, type Schedule } from '../two-mounts.ts';
import { load, seed } from '../workshop.ts';
import { lostCommits } from './rows.ts';

/** How two mounts end depends on who flushes what and when: lost commits, or a broken database. */
const twoWriters: DamageClass = {
  name: 'two writers',
  all: [],
  oneOf: [['LEDGER_LOST', 'LEDGER_UNREADABLE']],
  besides: [
    ...['BALANCE_WRONG', 'INDEX_OUT_OF_STEP', 'LEDGER_DUPLICATED', 'LEDGER_OUT_OF_ORDER'],
    ...['LEDGER_CHAIN_BROKEN', 'LEDGER_TORN', 'SERVER_CANNOT_START', 'SERVER_DIED'],
    ...['ERROR_LOG_DAMAGE', 'CHECK_TABLE_FAILED', 'CHECK_TABLE_CRASHED', 'CHECKSUM_CHANGED'],
    ...['CHECKSUM_TABLE_FAILED', 'SQL_REFUSED', 'PAGE_CHECKSUM_BAD', 'FILE_UNREADABLE'],
    'FSCK_ERRORS',
    // Its files are on that disk, too, and so are values that lie outside their row's page.
    ...['BINLOG_DAMAGED', 'DOCUMENT_TORN'],
  ],
};

const overlapMs = 3000;

async function together({ workshop, base }: Plot, schedule: Schedule): Promise<Planted> {
  const played = await twoMounts(workshop, `${base.name}-planted`, schedule);
  const { volume, ops, moments, victimBytes, successorBytes } = played;
  const seen = `beside each other the victim wrote ${victimBytes} bytes, its successor ${successorBytes}`;
  const proven = victimBytes > 0 && successorBytes > 0;
  return { proof: { by: 'events', proven, seen }, ops, moments, images: [volume] };
}

/**
 * The log goes to the operating system at each commit and is not synced by the server: a second, as is
 * usual, is too short for a busy machine to fill it with commits.
 */
const unsyncedLog = ['--innodb-flush-log-at-trx-commit=2', '--innodb-flush-log-at-timeout=2700'];
/** Whoever calls sync(2) on this machine, as kubelets do, syncs the volume too: then nothing is lost. */
const mostTries = 3;

/** Commits that a server acknowledged without a sync, and then lost with its disk. */
async function unsynced(plot: Plot): Promise<Planted> {
  for (let tries = 1; ; tries += 1) {
    const planted = await cutUnsynced(plot, `${plot.base.name}-unsynced-${tries}`);
    if (planted.proof.by !== 'events' || planted.proof.proven || tries === mostTries)
      return planted;
  }
}

async function cutUnsynced({ workshop }: Plot, name: string): Promise<Planted> {
  const volume = await workshop.host.newVolume(name);
  const disk = await volume.attach('a');
  const server = await disk.startServer(...unsyncedLog);
  const writer = server.write(load, seed, workshop.clock);
  await workshop.untilAcked(writer, 400);
  await server.signal('STOP');
  await disk.cut();
  await server.kill();
  await writer.stop();
  await disk.detach();
  const acked = ackedIn(writer.records);
  const copy = await workshop.copyOf(volume);
  const [row] = await workshop.served(copy, (recovered) =>
    recovered.query('SELECT COUNT(*) AS n FROM forcedetach.ledger'),
  );
  await workshop.discard(copy);
  const rows = Number(row?.['n']);
  const seen = `${acked} commits were acknowledged, ${rows} rows are there after recovery`;
  const ops = [...pairOperations(writer.records)];
  return { proof: { by: 'events', proven: rows < acked, seen }, ops, images: [volume] };
}

export const twoWriterKinds: readonly Mutant[] = [
  {
    name: 'double-mount-writing',
    shows: 'victim and successor serve at once, and both write',
    base: 'handed-over',
    damageClass: twoWriters,
    plant: (plot) =>
      together(plot, {
        fault: (victim) => victim.freeze(),
        async beside(victim, successor) {
          await victim.thaw();
          await sleep(overlapMs);
          await successor.end('kill');
          await victim.end('stop');
        },
      }),
  },
  {
    name: 'double-mount-idle',
    shows: 'the victim serves nobody beside its successor, and is stopped cleanly last',
    base: 'handed-over',
    damageClass: twoWriters,
    plant: (plot) =>
      together(plot, {
        async fault(victim) {
          await victim.writer.stop();
          await victim.freeze();
        },
        async beside(victim, successor) {
          await victim.thaw();
          await successor.end('stop');
          await victim.end('stop');
        },
      }),
  },
  {
    name: 'zombie',
    shows: 'a victim that was frozen wakes up when its successor has come and gone',
    base: 'handed-over',
    damageClass: twoWriters,
    plant: (plot) =>
      together(plot, {
        fault: (victim) => victim.freeze(),
        async beside(victim, successor) {
          await successor.end('stop');
          await victim.thaw();
          await sleep(overlapMs / 2);
          await victim.end('stop');
        },
      }),
  },
  {
    name: 'ack-without-fsync',
    shows: 'commits are acknowledged before they are on the disk, which then is cut off',
    base: 'crashed',
    damageClass: lostCommits,
    plant: unsynced,
  },
];
