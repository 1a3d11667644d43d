/** Answers of one audit, and records of the run, that refute each other: then what rests on them is no proof. */
import { clientSides, type OpId } from '../../history/index.ts';
import { type AuditedImage, when } from './checker.ts';
import type { JudgedDatabase } from '../database.ts';
import type { Journal } from './journal.ts';
import type { Reconciliation } from './reconcile.ts';

/**
 * A client of whose rows none, in no copy, says what its journal and the run's seed say: not even those from
 * before the fault. The records are another run's then; damage does not choose one client's rows, and all.
 */
export function foreignRecords(images: readonly Reconciliation[], journal: Journal): string[] {
  const [first] = images.filter(({ rows }) => rows > 0);
  return clientSides
    .filter((client) => journal.tellsOf(client))
    .filter((client) => (first?.byClient.get(client)?.rows ?? 0) > 0)
    .filter((client) => images.every(({ byClient }) => (byClient.get(client)?.asSent ?? 0) === 0))
    .map((client) => `no row of the ${client} client on any copy is one that its journal has`);
}

/** What one reading of a copy says against another one, where no damage of the volume could be the reason. */
export function contradictionsIn(audited: AuditedImage, { own }: JudgedDatabase): string[] {
  const { indexCounts, balances, mounted, starts, ...evidence } = audited.evidence;
  // What was not read at all is missing, and named so.
  const read: Readonly<Record<string, number>> = {
    ...(evidence.ledgerComplete && { ledger: evidence.ledgerRows }),
    ...(Object.keys(balances).length > 0 && { account: Object.keys(balances).length }),
  };
  const isStarted = starts.length > 0;
  return [
    ...indexCounts.flatMap(({ table, index, byPrimary }) => {
      const rows = read[table] ?? byPrimary;
      const both = `${rows} rows of ${table} were read, and ${byPrimary} beside its index ${index}`;
      return when(rows !== byPrimary, both);
    }),
    ...when(isStarted && !mounted, 'a server was started on a volume that was not mounted'),
    ...when(isStarted && evidence.dataDirectoryEmpty, 'a server was started on an empty directory'),
    ...own.contradictions(audited),
  ];
}

/** Rows that the database's own log refutes as damage. */
const disputable = ['phantoms', 'torn', 'brokenLinks'] as const;

export const disputedRows = ({ reconciliation, disputes = () => false }: AuditedImage): OpId[] =>
  disputable.flatMap((kind) => reconciliation[kind].ops.filter(disputes));
