/** A database of one's own, on the model: a journal of keys and values, with a check that no other has. */
import {
  array,
  customDatabase,
  damage,
  experiment,
  forceDelete,
  mysql,
  networkPartition,
  simulated,
  type CustomDatabase,
  type LedgerEntry,
} from 'forcedetach';

/** What its audit reads of a copy: each entry names the one before it. */
interface JournalRead {
  readonly entries: number;
  /** Entries whose predecessor is not the one that they name. */
  readonly torn: readonly string[];
}

function readJournal(rows: readonly LedgerEntry[]): JournalRead {
  const last = new Map<string, string>();
  const torn: string[] = [];
  for (const { client, connection, session, seq, previousHash, hash } of rows) {
    const key = `${client}/${connection}/${session}`;
    if ((last.get(key) ?? previousHash) !== previousHash) torn.push(`${key}: ${seq}`);
    last.set(key, hash);
  }
  return { entries: rows.length, torn };
}

/** `sync`: before each acknowledgement, or once a second. */
const journal = ({ sync }: { readonly sync: 'each' | 'second' }): CustomDatabase =>
  customDatabase<JournalRead>({
    ...{ name: 'journal', title: 'Journal', server: 'journald' },
    like: mysql({ trxCommit: sync === 'each' ? 1 : 2, binlog: 'off' }),
    log: {
      signs: { error: 'ERR', ready: 'open for clients', stopped: 'closed' },
      damage: /^ERR (?!bad request)/,
      modelled: { locked: 'another journald has the files', recovered: 'replayed' },
    },
    audit: readJournal,
    checks: [
      {
        name: 'journal-chain',
        check({ entries, torn }, { image }) {
          if (torn.length === 0) return [];
          const summary = `${torn.length} of ${entries} entries do not follow the one they name`;
          const about = { image, safety: 'corrupt', loud: false, evidence: torn } as const;
          return [damage({ code: 'JOURNAL_TORN', summary, ...about })];
        },
      },
    ],
  });

await using cluster = await simulated();
const parts = { cluster, storage: array({ mode: 'unfenced' }), remedy: forceDelete() };
// Few commits, and both servers for a moment only: so the copy can be opened.
const slow = { load: { rate: 1 }, watch: { overlap: '1s' } } as const;
const run = await experiment({
  ...{ ...parts, ...slow, fault: networkPartition() },
  database: journal({ sync: 'each' }),
}).run({ seed: '2' });
console.log(run.verdict, run.findings.map(({ code }) => code).join(' '));
console.log(run.sentence);
