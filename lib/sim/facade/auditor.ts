/** The audit on the model: what a real one would read from such an image, as far as is modelled. */
import {
  nothingRead,
  type DocumentsFound,
  type ImageEvidence,
  type LedgerRow,
  type ServerStart,
  type ImageLabel,
  documentAction,
  firstDocuments,
  accountsPerConnection,
  clientSides,
  entryHash,
  firstAccount,
  initialBalance,
  originHash,
  sessionKey,
  type LedgerEntry,
} from '../../history/index.ts';
import type { CommandEvidence } from '../../core/index.ts';
import type { DatabaseChoice } from '../../scenario/index.ts';
import type { Database, Auditor } from '../../run/index.ts';
import { opened, uuidOf, type SimCopy, type Image } from '../disk/volume.ts';
import { secondUs } from '../timings.ts';
import type { KernelDriver } from './kernel-driver.ts';

/** A whole audit; assumption. */
export const auditUs = 20 * secondUs;

interface SimAuditorOptions {
  readonly database: Database;
  readonly images: ReadonlyMap<ImageLabel, SimCopy>;
  /** The run's seed: gives what each session's first row links to. */
  readonly seed: string;
  /** Connections per client: their accounts exist. */
  readonly connections: number;
  readonly settings: DatabaseChoice;
}

export const simAuditor = (driver: KernelDriver, options: SimAuditorOptions): Auditor => ({
  audit: (label, onRow) =>
    driver.perform(auditUs, () => {
      const copy = options.images.get(label);
      return copy === undefined
        ? { ...nothingRead(), failures: [`no copy of the ${label} image was taken`] }
        : { ...auditImage(copy.image, options, onRow), opened: opened(copy) };
    }),
});

function auditImage(
  { rows, canaries, damage, made, schemaChanged }: Image,
  { database, seed, connections, settings }: SimAuditorOptions,
  onRow: (row: LedgerRow) => void,
): ImageEvidence {
  if (made === undefined) {
    const output = 'Bad magic number in super-block (model)';
    const fsck = { ...notModelled('e2fsck -fn'), exitCode: 8, output };
    return { ...nothingRead(), fsck, mountError: 'no file system (model)' };
  }
  const about = {
    ...{ ...nothingRead(), fsck: notModelled('e2fsck -fn'), mounted: true, canaries },
    ...{ filesystemUuid: uuidOf(made), serverUuid: uuidOf(made) },
  };
  if (damage !== undefined) {
    const ledgerError = `the server does not start: ${damage}`;
    const line = `${database.log.signs.error} ${damage}`;
    return { ...about, starts: [startOf('recovery', line)], ledgerError };
  }
  const found = rows.filter((entry) => entry !== undefined);
  const balances = initialBalances(connections);
  const heads = new Map<string, string>();
  rows.forEach((entry, position) => {
    if (entry === undefined) return;
    onRow(verifiedRow(entry, position + 1, seed, heads));
    apply(entry, balances);
  });
  const count = found.length;
  return {
    ...about,
    starts: (['recovery', 'cold', 'check'] as const).map((purpose) => startOf(purpose)),
    ledgerComplete: true,
    ledgerRows: count,
    balances,
    documents: documentsOf(found),
    login: {},
    schema: { state: schemaChanged ? 'changed' : 'original', oddities: [] },
    ...database.own.modelled({
      ...{ rows: found, balances, settings, notModelled },
      ...{ serverUuid: about.serverUuid, isSchemaChanged: schemaChanged },
    }),
  };
}

/** What the model has no notion of is taken as good, and says so. */
const notModelled = (command: string): CommandEvidence => ({
  command: `${command} (model)`,
  exitCode: 0,
  output: 'not modelled, taken as clean',
  durationMs: 0,
});

/** `error`: the line with which it died. Default: it lived. */
const startOf = (purpose: ServerStart['purpose'], error?: string): ServerStart => ({
  ...{ purpose, ready: error === undefined, durationMs: 1500 },
  ...(error === undefined ? {} : { died: 'SIGABRT' }),
  errorLines: error === undefined ? [] : [error],
});

/** `heads`: hash of the last row seen, by session. */
function verifiedRow(
  entry: LedgerEntry,
  id: number,
  seed: string,
  heads: Map<string, string>,
): LedgerRow {
  const { previousHash, hash, ...operation } = entry;
  const key = sessionKey(entry);
  const head = heads.get(key) ?? originHash(seed, entry);
  heads.set(key, hash);
  return {
    id,
    ...operation,
    hashFits: entryHash({ ...operation, previousHash }) === hash,
    linkFits: previousHash === head,
  };
}

function initialBalances(connections: number): Record<number, number> {
  const balances: Record<number, number> = {};
  for (const client of clientSides)
    for (let n = 0; n < connections * accountsPerConnection; n++) {
      const first = firstAccount(client, Math.floor(n / accountsPerConnection));
      balances[first + (n % accountsPerConnection)] = initialBalance;
    }
  return balances;
}

/** Like balances: what the rows that are there have put and not deleted. */
function documentsOf(rows: readonly LedgerEntry[]): DocumentsFound {
  const seqs = new Map<string, Set<number>>();
  const ofSession = (id: Parameters<typeof sessionKey>[0]): Set<number> => {
    const key = sessionKey(id);
    const found = seqs.get(key) ?? new Set();
    seqs.set(key, found);
    return found;
  };
  for (const entry of rows) {
    const action = documentAction(entry);
    if (action?.verb === 'put') ofSession(entry).add(action.seq);
    else if (action !== undefined) ofSession(entry).delete(action.seq);
  }
  for (const id of firstDocuments) ofSession(id).add(id.seq);
  const found = Object.fromEntries([...seqs].map(([key, of]) => [key, [...of]]));
  return { found, torn: [] };
}

/** Balances follow the rows that are there: the model has no pages of their own for them. */
function apply(
  { fromAccount, toAccount, amount }: LedgerEntry,
  balances: Record<number, number>,
): void {
  balances[fromAccount] = (balances[fromAccount] ?? 0) - amount;
  balances[toAccount] = (balances[toAccount] ?? 0) + amount;
}
