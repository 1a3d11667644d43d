/** Rows that are gone, doubled or changed, by SQL on a server that was up. */
import type { DamageClass } from '../damage-class.ts';
import type { Base } from '../bases.ts';
import type { Mutant, Planted, Plot, Proof } from '../mutant.ts';
import { lastOf, middleAppend, rowOf, sessionOf, undoing } from '../pick.ts';
import { slowShutdown } from '../workshop.ts';

const ledger = 'forcedetach.ledger';
const columns =
  'client, connection, session, seq, kind, from_account, to_account, amount, previous_hash, hash';

/** What MySQL says of all rows and balances. */
export const contentProof: Proof = {
  by: 'query',
  files: ['data/forcedetach/ledger.ibd', 'data/forcedetach/account.ibd'],
  query:
    `SELECT (SELECT COUNT(*) FROM ${ledger}) AS commits,` +
    ` (SELECT SUM(CRC32(CONCAT_WS('|', id, ${columns}))) FROM ${ledger}) AS ledger_hash,` +
    " (SELECT SUM(CRC32(CONCAT_WS('|', id, balance))) FROM forcedetach.account) AS balances_hash",
};

export const lostCommits: DamageClass = { name: 'lost commits', all: ['LEDGER_LOST'] };

/** Runs the statements on a server on the plot's volume and stops it cleanly. */
export async function runSql(
  { workshop, volume }: Plot,
  statements: readonly string[],
): Promise<void> {
  await workshop.served(volume, async (server) => {
    await server.session([...statements, slowShutdown]);
  });
}

/** The smallest silent loss: too large a ledger to be kept as evidence, so not among the kinds. */
export const oneInAMillion: Mutant = {
  name: 'one-in-a-million',
  shows: 'one commit of a million is gone',
  base: 'million',
  damageClass: lostCommits,
  async plant(plot) {
    await runSql(plot, undoing(middleAppend(plot.base, 3)));
    return { proof: contentProof };
  },
};

/** A kind that statements plant. */
function bySql(
  about: Omit<Mutant, 'base' | 'plant'>,
  statements: (base: Base) => readonly string[],
): Mutant {
  return {
    ...about,
    base: 'written',
    async plant(plot): Promise<Planted> {
      await runSql(plot, statements(plot.base));
      return { proof: contentProof };
    },
  };
}

/** entryHash of lib/history/workload.ts, of a row whose previous_hash is its own hash. */
const forkedHash =
  "UNHEX(SHA2(CONCAT_WS('|', LOWER(HEX(previous_hash)), client, connection, session, seq, kind," +
  ' from_account, to_account, amount), 256))';

export const rowKinds: readonly Mutant[] = [
  bySql(
    {
      name: 'lost-tail',
      shows: 'the last three commits of each of ten connections are gone',
      damageClass: lostCommits,
    },
    (base) =>
      Array.from({ length: 10 }, (_, n) => sessionOf(base, n).slice(-3).flatMap(undoing)).flat(),
  ),
  bySql(
    {
      name: 'lost-middle',
      shows: 'one append in the middle of a session is gone, later ones are there',
      damageClass: lostCommits,
    },
    (base) => undoing(middleAppend(base, 3)),
  ),
  bySql(
    {
      name: 'one-of-32',
      shows: 'the last commit of one of 32 connections is gone',
      damageClass: lostCommits,
    },
    (base) => undoing(lastOf(base, 5)),
  ),
  bySql(
    {
      name: 'duplicated-row',
      shows: 'a row is there twice',
      damageClass: { name: 'duplicated row', all: ['LEDGER_DUPLICATED'] },
    },
    (base) => [
      `INSERT INTO ${ledger} (${columns}) SELECT ${columns} FROM ${ledger} WHERE ${rowOf(middleAppend(base, 0))}`,
    ],
  ),
  bySql(
    {
      name: 'ghost-row',
      shows: 'a row that no client ever sent',
      damageClass: { name: 'ghost row', all: ['LEDGER_PHANTOM'] },
    },
    (base) => [
      `INSERT INTO ${ledger} (${columns}) SELECT ${columns.replace('session', '77')} FROM ${ledger} WHERE ${rowOf(middleAppend(base, 0))}`,
    ],
  ),
  bySql(
    {
      name: 'changed-row',
      shows: 'the amount in a row is one more than was sent',
      damageClass: { name: 'torn row', all: ['LEDGER_TORN'], besides: ['BALANCE_WRONG'] },
    },
    (base) => [`UPDATE ${ledger} SET amount = amount + 1 WHERE ${rowOf(middleAppend(base, 1))}`],
  ),
  bySql(
    {
      name: 'balance-off-by-one',
      shows: 'one balance is one more than its transfers make it',
      damageClass: { name: 'wrong balance', all: ['BALANCE_WRONG'] },
    },
    () => ['UPDATE forcedetach.account SET balance = balance + 1 WHERE id = 7'],
  ),
  bySql(
    {
      name: 'wrong-order',
      shows: 'two neighbours of one session have changed places',
      damageClass: {
        name: 'wrong order',
        all: ['LEDGER_OUT_OF_ORDER'],
        besides: ['LEDGER_CHAIN_BROKEN'],
      },
    },
    (base) => {
      const [, one, two] = sessionOf(base, 2);
      if (one === undefined || two === undefined) return [];
      return [
        `SELECT id INTO @one FROM ${ledger} WHERE ${rowOf(one)}`,
        `SELECT id INTO @two FROM ${ledger} WHERE ${rowOf(two)}`,
        `UPDATE ${ledger} SET id = 1000000 WHERE id = @one`,
        `UPDATE ${ledger} SET id = @one WHERE id = @two`,
        `UPDATE ${ledger} SET id = @two WHERE id = 1000000`,
      ];
    },
  ),
  bySql(
    {
      name: 'forked-chain',
      shows: "a session's last row links to another one than was acknowledged before it",
      damageClass: { name: 'broken chain', all: ['LEDGER_CHAIN_BROKEN'] },
    },
    (base) => [
      `UPDATE ${ledger} SET previous_hash = hash WHERE ${rowOf(lastOf(base, 4))}`,
      `UPDATE ${ledger} SET hash = ${forkedHash} WHERE ${rowOf(lastOf(base, 4))}`,
    ],
  ),
  {
    name: 'resurrected-delete',
    shows: 'commits that were gone in the image before are back',
    base: 'written',
    damageClass: {
      name: 'resurrected rows',
      all: ['LEDGER_RESURRECTED'],
      besides: ['LEDGER_LOST'],
    },
    async plant(plot) {
      await runSql(plot, sessionOf(plot.base, 0).slice(-3).flatMap(undoing));
      return { proof: contentProof, images: [plot.volume, plot.base.volume] };
    },
  },
];
