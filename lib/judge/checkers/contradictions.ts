/** Answers of one audit, and records of the run, that refute each other: then what rests on them is no proof. */
import { clientSides, type OpId } from '../../history/index.ts';
import type { AuditedImage } from './checker.ts';
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
  const { evidence } = audited;
  const { indexCounts, balances, mounted, starts, dataDirectoryEmpty, opened } = evidence;
  const found: string[] = [];
  // What was not read at all is missing, and named so.
  const read: Readonly<Record<string, number>> = {
    ...(evidence.ledgerComplete && { ledger: evidence.ledgerRows }),
    ...(Object.keys(balances).length > 0 && { account: Object.keys(balances).length }),
  };
  for (const { table, index, byPrimary } of indexCounts) {
    const rows = read[table] ?? byPrimary;
    if (rows === byPrimary) continue;
    found.push(`${rows} rows of ${table} were read, and ${byPrimary} beside its index ${index}`);
  }
  if (starts.length > 0 && !mounted)
    found.push('a server was started on a volume that was not mounted');
  if (starts.length > 0 && dataDirectoryEmpty)
    found.push('a server was started on an empty directory');
  const { filesystemUuid } = evidence;
  if (opened?.filesystemUuid !== undefined && opened.filesystemUuid !== filesystemUuid) {
    found.push(
      `the copy was opened as file system ${opened.filesystemUuid}, and is ${filesystemUuid}`,
    );
  }
  return [...found, ...own.contradictions(audited)];
}

/** Rows that the database's own log refutes as damage. */
const disputable = ['phantoms', 'torn', 'brokenLinks'] as const;

export const disputedRows = ({ reconciliation, disputes = () => false }: AuditedImage): OpId[] =>
  disputable.flatMap((kind) => reconciliation[kind].ops.filter(disputes));
