/** Damage of a file system's own structures, below every file. */
import type { DamageClass } from '../damage-class.ts';
import type { Mutant } from '../mutant.ts';

/**
 * fsck says so. Which files go with it is the file system's matter: mkfs draws for each new one which
 * directory's inodes lie where, so that here the server cannot start and there it only lacks tables.
 * What cannot be there or cannot be read follows from it; what is there and wrong does not.
 */
const brokenFileSystem: DamageClass = {
  name: 'broken file system',
  all: ['FSCK_ERRORS'],
  besides: [
    ...['FILE_SYSTEM_UNMOUNTABLE', 'DATA_DIRECTORY_EMPTY', 'FILE_UNREADABLE', 'LEDGER_UNREADABLE'],
    ...['BINLOG_DAMAGED', 'SERVER_CANNOT_START', 'SERVER_DIED', 'ERROR_LOG_DAMAGE', 'SQL_REFUSED'],
    ...['CHECK_TABLE_CRASHED', 'CHECK_TABLE_FAILED', 'CHECKSUM_TABLE_FAILED'],
  ],
};

/** The block with the inode of the ledger's file, found by debugfs, is overwritten. */
const scribbleInode = `
  block=$(debugfs -R "imap /data/forcedetach/ledger.ibd" "$1" 2>/dev/null | sed -n 's/.*located at block \\([0-9]*\\),.*/\\1/p')
  dd if=/dev/urandom of="$1" bs=4096 seek="$block" count=1 conv=notrunc status=none`;

/**
 * Inodes 160 to 191: the second half of the first chunk, which begins with the root's, 128. Eight of
 * 512 bytes lie in a block; what comes after them is some file's content, and that is another damage.
 */
const scribbleInodes =
  'dd if=/dev/urandom of="$1" bs=4096 seek=20 count=4 conv=notrunc status=none';

export const fileSystemKinds: readonly Mutant[] = [
  {
    name: 'ext4-metadata',
    shows: "the block with the ledger file's inode is random bytes",
    base: 'written',
    damageClass: brokenFileSystem,
    async plant({ workshop, volume }) {
      await workshop.host.sh(scribbleInode, volume.path);
      return { proof: { by: 'image' } };
    },
  },
  {
    name: 'xfs-metadata',
    shows: "four blocks of XFS's first inodes are random bytes",
    base: 'xfs',
    damageClass: brokenFileSystem,
    async plant({ workshop, volume }) {
      await workshop.host.sh(scribbleInodes, volume.path);
      return { proof: { by: 'image' } };
    },
  },
];
