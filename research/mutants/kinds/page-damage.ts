/** Damage of single pages of a tablespace, as a disk or a second writer leaves it. */
import type { DamageClass } from '../damage-class.ts';
import type { BareVolume } from '../../../test/cluster/bare-volume.ts';
import { swapIndexPages } from '../../../test/cluster/index-pages.ts';
import { olderOf, type Mutant, type Planted, type Plot } from '../mutant.ts';
import {
  indexPages,
  leavesOf,
  pageBytes,
  pageOf,
  readTablespace,
  seal,
  stalePageOf,
  writePage,
  type IndexPage,
} from '../pages.ts';
import { lastOf, rowOf } from '../pick.ts';

const ledger = 'data/forcedetach/ledger.ibd';
const account = 'data/forcedetach/account.ibd';
const system = 'data/mysql.ibd';

/** InnoDB refuses the page and ends itself. */
const unreadablePage = ['LEDGER_UNREADABLE', 'SERVER_DIED', 'ERROR_LOG_DAMAGE'];
const badPage: DamageClass = {
  name: 'bad page',
  all: [...unreadablePage, 'PAGE_CHECKSUM_BAD'],
  besides: ['CHECK_TABLE_CRASHED'],
};
/** Each page's own checksum is right, or not needed: innochecksum has nothing to say. */
const wrongPage: DamageClass = {
  name: 'wrong page',
  all: unreadablePage,
  besides: ['CHECK_TABLE_CRASHED'],
};

/** A leaf of an older state: its rows since then are gone, and whatever counts rows disagrees. */
const stalePage: DamageClass = {
  name: 'stale page',
  all: ['LEDGER_LOST', 'INDEX_OUT_OF_STEP'],
  besides: [
    ...['BALANCE_WRONG', 'CHECK_TABLE_FAILED', 'CHECK_TABLE_CRASHED', 'SERVER_DIED'],
    ...['ERROR_LOG_DAMAGE', 'LEDGER_OUT_OF_ORDER'],
  ],
};

type Pick = (tablespace: Buffer) => IndexPage | undefined;

const middleLeaf: Pick = (tablespace) => {
  const leaves = leavesOf(tablespace, 0);
  return leaves[Math.floor(leaves.length / 2)];
};

interface Change {
  /** Relative to the mount point. */
  readonly file: string;
  readonly pick: Pick;
  readonly change: (page: Buffer, tablespace: Buffer) => Buffer | Promise<Buffer>;
}

/** Changes one page of a file. */
async function changePage(
  { workshop, volume }: Plot,
  { file, pick, change }: Change,
): Promise<Planted> {
  await workshop.mounted(volume, async (disk) => {
    const tablespace = await readTablespace(workshop, disk, file);
    const number = pick(tablespace)?.number;
    if (number === undefined) throw new Error(`${file} has no such page`);
    const page = await change(pageOf(tablespace, number), tablespace);
    await writePage(workshop, disk, file, number, page);
  });
  return { proof: { by: 'files', files: [file] } };
}

const readOlder = async ({ workshop }: Plot, older: BareVolume, file: string): Promise<Buffer> =>
  workshop.mounted(await workshop.copyOf(older), (disk) => readTablespace(workshop, disk, file));

/**
 * Puts an older leaf of an index over what that page is now. An index that was one page then has its
 * whole older self again.
 */
async function stale(plot: Plot, file: string, index: number): Promise<Planted> {
  const { workshop, volume, base } = plot;
  const older = await readOlder(plot, olderOf(base), file);
  await workshop.mounted(volume, async (disk) => {
    const found = stalePageOf(older, await readTablespace(workshop, disk, file), index);
    if (found === undefined) throw new Error(`no leaf of ${file} can be put back`);
    await writePage(workshop, disk, file, found.number, found.page);
  });
  return { proof: { by: 'files', files: [file] } };
}

const flipBit = (page: Buffer): Buffer => {
  const middle = pageBytes / 2;
  page.writeUInt8(page.readUInt8(middle) ^ 0x10, middle);
  return page;
};

/** A page that no row ever came to: all zeroes, and nobody reads it. */
const unusedPage: Pick = (tablespace) => {
  for (let number = tablespace.length / pageBytes - 1; number > 0; number--) {
    if (pageOf(tablespace, number).every((byte) => byte === 0)) {
      return { number, index: 0n, level: 0, records: 0 };
    }
  }
  return undefined;
};

/** A page with rows of the table that was made last: one that a start does not need. */
const systemLeaf: Pick = (tablespace) =>
  indexPages(tablespace)
    .filter(({ level, records }) => level === 0 && records > 5)
    .toSorted((a, b) => Number(a.index - b.index))
    .at(-1);

async function swapPages({ workshop, volume }: Plot): Promise<Planted> {
  await workshop.mounted(volume, async (disk) => {
    const tablespace = await readTablespace(workshop, disk, ledger);
    const [one, two] = leavesOf(tablespace, 0).map(({ number }) => number);
    if (one === undefined || two === undefined) throw new Error('the ledger has one leaf only');
    await writePage(workshop, disk, ledger, one, pageOf(tablespace, two));
    await writePage(workshop, disk, ledger, two, pageOf(tablespace, one));
  });
  return { proof: { by: 'files', files: [ledger] } };
}

/** One bit within the stored hash of a session's last row; the page gets a valid checksum again. */
async function tearRow(plot: Plot): Promise<Planted> {
  const { workshop, volume, base } = plot;
  const [row] = await workshop.served(volume, (server) =>
    server.query(
      `SELECT HEX(hash) AS hash FROM forcedetach.ledger WHERE ${rowOf(lastOf(base, 6))}`,
    ),
  );
  const hash = Buffer.from(String(row?.['hash']), 'hex');
  return changePage(plot, {
    file: ledger,
    pick: (tablespace) =>
      leavesOf(tablespace, 0).find(({ number }) => pageOf(tablespace, number).includes(hash)),
    change: (page) => {
      const at = page.indexOf(hash);
      page.writeUInt8(page.readUInt8(at) ^ 1, at);
      seal(page);
      return page;
    },
  });
}

export const pageKinds: readonly Mutant[] = [
  {
    name: 'bit-flip',
    shows: 'one bit of a page of the ledger is flipped',
    base: 'written',
    damageClass: badPage,
    plant: (plot) => changePage(plot, { file: ledger, pick: middleLeaf, change: flipBit }),
  },
  {
    name: 'bit-flip-unused',
    shows: 'one bit of a page that nothing reads is flipped',
    base: 'written',
    damageClass: { name: 'bad page that nothing reads', all: ['PAGE_CHECKSUM_BAD'] },
    plant: (plot) => changePage(plot, { file: ledger, pick: unusedPage, change: flipBit }),
  },
  {
    name: 'zeroed-page',
    shows: 'a page of the ledger is zeroes',
    base: 'written',
    damageClass: wrongPage,
    plant: (plot) =>
      changePage(plot, { file: ledger, pick: middleLeaf, change: () => Buffer.alloc(pageBytes) }),
  },
  {
    name: 'swapped-pages',
    shows: 'two pages of the ledger have changed places: each is valid by itself',
    base: 'written',
    damageClass: wrongPage,
    plant: swapPages,
  },
  {
    name: 'torn-row',
    shows: 'one bit of a row is flipped, below the page checksum',
    base: 'written',
    damageClass: { name: 'torn row', all: ['LEDGER_TORN'], besides: ['LEDGER_CHAIN_BROKEN'] },
    plant: tearRow,
  },
  {
    name: 'stale-page',
    shows: 'a page of the ledger is as it was some hundred commits ago',
    base: 'written',
    damageClass: stalePage,
    plant: (plot) => stale(plot, ledger, 0),
  },
  {
    name: 'lost-page-write',
    shows: 'a page of balances never reached the disk since the last half of the commits',
    base: 'written',
    damageClass: {
      name: 'wrong balance',
      all: ['BALANCE_WRONG', 'INDEX_OUT_OF_STEP'],
    },
    plant: (plot) => stale(plot, account, 0),
  },
  {
    name: 'stale-index-page',
    shows: 'a page of a secondary index is older than its table, with fewer entries',
    base: 'written',
    damageClass: {
      name: 'index behind its table',
      all: ['INDEX_OUT_OF_STEP', 'CHECK_TABLE_FAILED'],
      besides: ['ERROR_LOG_DAMAGE', 'CHECK_TABLE_CRASHED'],
    },
    plant: (plot) => stale(plot, ledger, 2),
  },
  {
    name: 'index-out-of-step',
    shows: 'a whole secondary index is older than its table, with as many entries',
    base: 'written',
    damageClass: {
      name: 'index out of step',
      all: ['INDEX_OUT_OF_STEP'],
      besides: ['CHECK_TABLE_FAILED'],
    },
    async plant({ workshop, volume, base }) {
      const { host } = workshop;
      await workshop.mounted(await workshop.copyOf(olderOf(base)), (disk) =>
        host.sh('cp "$1" /tmp/older.ibd', `${disk.mountPoint}/${account}`),
      );
      await workshop.mounted(volume, (disk) =>
        swapIndexPages(host, '/tmp/older.ibd', `${disk.mountPoint}/${account}`),
      );
      return { proof: { by: 'files', files: [account] } };
    },
  },
  {
    name: 'mysql-system',
    shows: "one bit of a page of MySQL's own tables is flipped",
    base: 'written',
    damageClass: {
      name: "bad page of MySQL's own",
      all: ['PAGE_CHECKSUM_BAD'],
      oneOf: [['CHECK_TABLE_CRASHED', 'CHECK_TABLE_FAILED', 'SERVER_CANNOT_START', 'SERVER_DIED']],
      besides: ['ERROR_LOG_DAMAGE', 'LEDGER_UNREADABLE', 'SQL_REFUSED'],
    },
    plant: (plot) => changePage(plot, { file: system, pick: systemLeaf, change: flipBit }),
  },
];
