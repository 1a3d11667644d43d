/** Whole files, volumes and logs that are older than they should be, cut short, or gone. */
import type { DamageClass } from '../damage-class.ts';
import { pairOperations } from '../../../test/support/pair-operations.ts';
import { olderOf, type Mutant, type Planted, type Plot } from '../mutant.ts';
import { seed } from '../workshop.ts';
import { contentProof, lostCommits } from './rows.ts';

const ledger = 'data/forcedetach/ledger.ibd';
const account = 'data/forcedetach/account.ibd';
const undoLogs = ['data/undo_001', 'data/undo_002'];

/** What remains of the database cannot be opened, and mysqld says so. */
const cannotStart: DamageClass = {
  name: 'server cannot start',
  all: ['SERVER_CANNOT_START', 'LEDGER_UNREADABLE', 'ERROR_LOG_DAMAGE'],
};

/** Puts files of the base's older state in the place of the newer ones. */
async function olderFiles(
  { workshop, base, volume }: Plot,
  files: readonly string[],
): Promise<void> {
  const { host } = workshop;
  await workshop.mounted(await workshop.copyOf(olderOf(base)), async ({ mountPoint }) => {
    for (const file of files) {
      await host.sh('mkdir -p /tmp/older && cp "$1" /tmp/older/', `${mountPoint}/${file}`);
    }
  });
  await workshop.mounted(volume, async ({ mountPoint }) => {
    for (const file of files) {
      const name = file.slice(file.lastIndexOf('/') + 1);
      await host.sh('cat "/tmp/older/$1" > "$2"', name, `${mountPoint}/${file}`);
    }
  });
}

/** A shell script on the mounted volume, `$1` its mount point; resolves to what it prints. */
const onFiles = ({ workshop, volume }: Plot, script: string): Promise<string> =>
  workshop.mounted(volume, ({ mountPoint }) => workshop.host.sh(script, mountPoint));

/** The successor goes on from the older image: its rows get the ids that the victim's had. */
async function goOnFromOlder(plot: Plot): Promise<Planted> {
  const { workshop, base, volume } = plot;
  await workshop.host.sh('cp --sparse=always "$1" "$2"', olderOf(base).path, volume.path);
  const successor = { client: 'inside', connections: 4, rate: 200 } as const;
  const records = await workshop.served(volume, async (server) => {
    const writer = server.write(successor, seed, workshop.clock);
    await workshop.untilAcked(writer, 100);
    await writer.stop();
    return writer.records;
  });
  return { proof: contentProof, ops: [...base.ops, ...pairOperations(records)] };
}

export const imageKinds: readonly Mutant[] = [
  {
    name: 'older-image',
    shows: 'the whole volume is as it was at half of the commits',
    base: 'written',
    damageClass: lostCommits,
    async plant({ workshop, base, volume }) {
      await workshop.host.sh('cp --sparse=always "$1" "$2"', olderOf(base).path, volume.path);
      return { proof: contentProof };
    },
  },
  {
    name: 'older-table',
    shows: 'one table is as it was at half of the commits, all others are new',
    base: 'written',
    damageClass: {
      name: 'older table',
      all: ['LEDGER_LOST', 'BALANCE_WRONG'],
      besides: ['ERROR_LOG_DAMAGE'],
    },
    async plant(plot) {
      await olderFiles(plot, [ledger]);
      return { proof: { ...contentProof, files: [ledger] } };
    },
  },
  {
    name: 'older-undo',
    shows: 'the undo logs are older: nothing takes back what was never committed',
    base: 'prepared',
    damageClass: {
      name: 'wrong balance',
      all: ['BALANCE_WRONG'],
      besides: ['ERROR_LOG_DAMAGE', 'INDEX_OUT_OF_STEP', 'CHECKSUM_CHANGED'],
    },
    async plant(plot) {
      await olderFiles(plot, undoLogs);
      return { proof: { ...contentProof, files: undoLogs } };
    },
  },
  {
    name: 'reused-ids',
    shows: 'a successor went on from an older state: other rows under the ids of lost ones',
    base: 'written',
    damageClass: lostCommits,
    plant: goOnFromOlder,
  },
  {
    name: 'truncated-redo',
    shows: 'the redo log that recovery needs is cut to its first 4 KiB',
    base: 'crashed',
    damageClass: cannotStart,
    async plant(plot) {
      const cut =
        'cd "$1"; for file in data/#innodb_redo/#ib_redo*[0-9]; do truncate -s 4096 "$file"; echo "$file"; done';
      const files = (await onFiles(plot, cut)).split('\n');
      return { proof: { ...contentProof, files } };
    },
  },
  {
    name: 'missing-tablespace',
    shows: 'the file of the balances is gone',
    base: 'written',
    damageClass: {
      name: 'missing table',
      all: ['SQL_REFUSED', 'ERROR_LOG_DAMAGE'],
      besides: ['CHECKSUM_TABLE_FAILED', 'CHECK_TABLE_FAILED'],
    },
    async plant(plot) {
      await onFiles(plot, `rm "$1/${account}"`);
      return { proof: { by: 'files', files: [account] } };
    },
  },
  {
    name: 'emptied',
    shows: 'the data directory is empty: the next start makes an empty database',
    base: 'written',
    damageClass: {
      name: 'empty data directory',
      all: ['DATA_DIRECTORY_EMPTY', 'LEDGER_UNREADABLE'],
    },
    async plant(plot) {
      await onFiles(plot, 'rm -r "$1"/data/*');
      return { proof: { by: 'files', files: [ledger] } };
    },
  },
  {
    name: 'reinitialised',
    shows: 'an empty database of another server is in its place, Ready',
    base: 'written',
    damageClass: { name: 'initialised anew', all: ['REINITIALISED', 'LEDGER_LOST'] },
    async plant(plot) {
      const { workshop, base, volume } = plot;
      await workshop.host.sh('cp --sparse=always "$1" "$2"', workshop.host.blank.path, volume.path);
      await onFiles(plot, 'rm "$1/data/auto.cnf"');
      await workshop.settle(volume);
      return { proof: contentProof, images: [base.volume, volume] };
    },
  },
  {
    name: 'reformatted',
    shows: 'the disk was formatted anew',
    base: 'written',
    damageClass: {
      name: 'formatted anew',
      all: ['REFORMATTED', 'DATA_DIRECTORY_EMPTY', 'LEDGER_UNREADABLE'],
    },
    async plant({ workshop, base, volume }) {
      await workshop.host.sh('mke2fs -q -F -t ext4 "$1"', volume.path);
      return { proof: { by: 'image' }, images: [base.volume, volume] };
    },
  },
];
