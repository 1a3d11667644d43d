/** MySQL's own checks of an audit's evidence, and which parts of it must be there. */
import { type CommandEvidence, plural } from '../core/index.ts';
import {
  type ImageEvidence,
  type IndexCount,
  sessionKey,
  workloadTables,
} from '../history/index.ts';
import {
  type Answer,
  answerOf,
  type AuditedImage,
  type Checker,
  type LedgerLookup,
  damage,
  opName,
  OpSample,
  type Finding,
  corruptInSilence,
  corruptAndTold,
  type OwnPart,
} from '../judge/index.ts';
import { ownEvidence, type BinlogFound, mysqlLog, type TableCheck } from './evidence.ts';
import { checkDamage, innochecksumKinds } from './exit-kinds.ts';
import { parseGtids, sizeOf, union, withGaps, writeGtids } from './gtid-set.ts';
import { databaseName, indexesMade } from './tables.ts';

export const binlog: Checker = {
  name: 'binlog',
  check({ image, evidence, ledger }) {
    const { binlog: found } = ownEvidence(evidence);
    if (found === undefined) return [];
    const findings: Finding[] = [];
    const tell = (
      code: string,
      safety: 'lost' | 'corrupt',
      summary: string,
      evidence: readonly string[],
    ): void => {
      findings.push(damage({ code, image, safety, loud: false, summary, evidence }));
    };
    const { unlogged, rowless } = ledger === undefined ? {} : reconcileBinlog(found, ledger);
    if (unlogged !== undefined && unlogged.count > 0) {
      const summary = `${plural(unlogged.count, 'operation')} in the tables that the binary log does not have`;
      tell('BINLOG_TRANSACTION_MISSING', 'corrupt', summary, unlogged.ops.map(opName));
    }
    if (rowless !== undefined && rowless.count > 0) {
      const summary = `${plural(rowless.count, 'transaction')} of the binary log that the tables do not have`;
      tell('BINLOG_ROW_MISSING', 'lost', summary, rowless.ops.map(opName));
    }
    if (found.differing.length > 0) {
      const summary = `binary log and table have other values of the same operations in ${plural(found.differing.length, 'session')}`;
      tell('BINLOG_DIFFERS', 'corrupt', summary, found.differing);
    }
    if (found.damage.length > 0) {
      tell('BINLOG_DAMAGED', 'corrupt', 'the binary log is not whole', found.damage);
    }
    const gaps = gtidGaps(found);
    if (gaps.length > 0) {
      tell('GTID_GAP', 'corrupt', 'GTIDs are missing, or given twice', gaps);
    }
    return findings;
  },
};

/** What the server knows is what it purged and what its files have, each number once from 1 on. */
function gtidGaps({ gtids, executed, purged, duplicateGtids }: BinlogFound): string[] {
  const known = union(parseGtids(executed));
  const there = union(parseGtids(gtids), parseGtids(purged));
  const gaps = withGaps(known).map((set) => `the server knows ${set}`);
  if (writeGtids(known) !== writeGtids(there)) {
    gaps.push(
      `the server knows ${executed || 'none'}; its files and what it purged have ${writeGtids(there) || 'none'}`,
    );
  }
  if (duplicateGtids > 0) gaps.push(`${plural(duplicateGtids, 'GTID')} twice in its files`);
  return gaps;
}

interface BinlogReconciliation {
  /** In the table, and not in the log: what replicates or restores from it lacks them. */
  readonly unlogged: OpSample;
  /** In the log, and not in the table. */
  readonly rowless: OpSample;
}

/**
 * The binary log against the table of the same image: each holds the same operations, or which not.
 * Where the redo log is not synced at each commit (innodb_flush_log_at_trx_commit 0 or 2) the binary
 * log is: so the table may lack what was acknowledged after `syncedUntilMs`, and no more is asked of it.
 */
export function reconcileBinlog(
  { rows }: BinlogFound,
  { journal, holds, syncedUntilMs = Infinity, withGaps }: LedgerLookup,
): BinlogReconciliation {
  const unlogged = new OpSample();
  const rowless = new OpSample();
  for (const log of journal.sessions()) {
    const hasGaps = withGaps?.has(log.id.client) === true;
    const isLogged = new Uint8Array(log.length);
    for (const [from, to] of rows[sessionKey(log.id)] ?? []) isLogged.fill(1, from, to + 1);
    for (let seq = 0; seq < log.length; seq++) {
      // Of what a journal with gaps does not tell, nobody has looked up the row either.
      if (hasGaps && !log.wasSent(seq)) continue;
      const isThere = holds(log, seq);
      if (isThere === (isLogged[seq] === 1)) continue;
      if (!isThere && log.ackedAtMs(seq) > syncedUntilMs) continue;
      (isThere ? unlogged : rowless).add({ ...log.id, seq });
    }
  }
  return { unlogged, rowless };
}

/** What it answers of a file of which it has no whole page (innochecksum.cc, main). */
const saysUnread = /minimum page size|structure needs cleaning|bad message/i;

const answerOfFile = (answer: CommandEvidence) => answerOf(answer, innochecksumKinds);

/** Every page of every tablespace carries the checksum of its content. Stale pages do, too. */
export const innochecksum: Checker = {
  name: 'innochecksum',
  byTool: true,
  check({ image, evidence }) {
    const { innochecksum: answers = [] } = ownEvidence(evidence);
    const refused = answers.filter((answer) => answerOfFile(answer) === 'damage');
    const { unread = [], bad = [] } = Object.groupBy(refused, ({ output }) =>
      saysUnread.test(output) ? 'unread' : 'bad',
    );
    const tell = (code: string, what: string, files: typeof refused): Finding[] => {
      if (files.length === 0) return [];
      const summary = `innochecksum ${what} ${plural(files.length, 'tablespace')}`;
      const said = files.map(({ command, output }) => `${command}: ${output}`);
      // Nobody runs it unasked; what mysqld says of such a file or page is a finding of its own.
      return [damage({ code, ...corruptInSilence, image, summary, evidence: said })];
    };
    return [
      ...tell('PAGE_CHECKSUM_BAD', 'finds bad pages in', bad),
      ...tell('FILE_UNREADABLE', 'can read nothing of', unread),
    ];
  },
};

const answerOfCheck = (check: string): Answer =>
  check === 'OK' ? 'sound' : checkDamage.test(check) ? 'damage' : 'none';

/** `NULL` is no answer but where the table's own error, its check or a refused statement proves damage. */
function answerOfChecksums(found: TableCheck, { sqlFailures = [] }: ImageEvidence): Answer {
  const { check = '', checksum, checksumAfterRestart, error = '' } = found;
  if (checksum !== 'NULL' && checksumAfterRestart !== 'NULL') return 'sound';
  const isRefused = [error, ...sqlFailures.map((each) => each.error)].some((each) =>
    mysqlLog.refusals.test(each),
  );
  return isRefused || checkDamage.test(check) ? 'damage' : 'none';
}

const tableChecks: Checker = {
  name: 'table-checks',
  byTool: true,
  check({ image, evidence }) {
    const { tables = [] } = ownEvidence(evidence);
    const findings: Finding[] = [];
    for (const found of tables) {
      const { table, check, checksum, checksumAfterRestart } = found;
      if (check !== undefined && answerOfCheck(check) === 'damage') {
        const summary = `CHECK TABLE finds fault with ${table}`;
        const about = { code: 'CHECK_TABLE_FAILED', ...corruptAndTold, image };
        findings.push(damage({ ...about, summary, evidence: [check] }));
      }
      const answer = answerOfChecksums(found, evidence);
      const both = [checksum, checksumAfterRestart];
      const changed = !both.includes(undefined) && checksumAfterRestart !== checksum;
      if (answer === 'none' || (answer === 'sound' && !changed)) continue;
      const said = [`from cold ${checksum}, after a clean restart ${checksumAfterRestart}`];
      const [code, how, summary] =
        answer === 'damage'
          ? ['CHECKSUM_TABLE_FAILED', corruptAndTold, `CHECKSUM TABLE cannot read ${table}`]
          : [
              'CHECKSUM_CHANGED',
              corruptInSilence,
              `a clean restart changed the content of ${table}`,
            ];
      findings.push(damage({ code, ...how, image, summary, evidence: said }));
    }
    return findings;
  },
};

export const ownChecks: OwnPart['checks'] = [binlog, tableChecks, innochecksum];

export const ownUnanswered: OwnPart['unanswered'] = (evidence) => {
  const { innochecksum = [], tables = [] } = ownEvidence(evidence);
  return [
    ...innochecksum
      .filter((answer) => answerOfFile(answer) === 'none')
      .map(({ command, exitCode, output }) => ({ what: command, said: `${exitCode}, ${output}` })),
    ...tables.flatMap(({ table, check = 'OK' }) =>
      answerOfCheck(check) === 'none' ? [{ what: `CHECK TABLE of ${table}`, said: check }] : [],
    ),
    ...tables.flatMap((found) =>
      answerOfChecksums(found, evidence) === 'none'
        ? [{ what: `CHECKSUM TABLE of ${found.table}`, said: found.error ?? 'NULL' }]
        : [],
    ),
  ];
};

/** The workload before it was whole. */
const firstTables = ['ledger', 'account'];

/** Files of every server, and of the workload's tables, below the data directory. */
export const tablespacesOf = (tables: readonly string[]): string[] => [
  ...['ibdata1', 'mysql.ibd', 'undo_001', 'undo_002'],
  ...tables.map((table) => `${databaseName}/${table}.ibd`),
];

/** Below the data directory, wherever that was mounted. */
const fileOf = ({ command }: CommandEvidence): string =>
  /^\S+ (?:\S*\/data\/)?(\S+)/.exec(command)?.[1] ?? '';

const without = (what: string, needed: Iterable<string>, found: readonly string[]): string[] =>
  [...new Set(needed)].filter((each) => !found.includes(each)).map((each) => `no ${what}${each}`);

export const ownGaps: OwnPart['gaps'] = (evidence, { wholeWorkload, settings, others }) => {
  const { innochecksum = [], tables = [], binlog } = ownEvidence(evidence);
  const elsewhere = others.map(ownEvidence);
  const workload: readonly string[] = wholeWorkload ? workloadTables : firstTables;
  const named = (found: (table: TableCheck) => unknown, of = tables): string[] =>
    of.filter((each) => found(each) !== undefined).map(({ table }) => table);
  const isKnown = workload.map((name) => tables.find((each) => isTable(each, name))?.table ?? name);
  const files = elsewhere.flatMap(({ innochecksum: all = [] }) => all.map(fileOf));
  const indexes = indexesMade(evidence.schema?.state === 'changed').map(nameOfIndex);
  const compared = evidence.indexCounts.filter(({ valuesAgree }) => valuesAgree !== undefined);
  const checkedElsewhere = elsewhere.flatMap(({ tables: all = [] }) =>
    named(({ check }) => check, all),
  );
  const restarted = named(({ checksumAfterRestart }) => checksumAfterRestart);
  const needsLog = wholeWorkload && settings.binlog === 'on';
  return [
    ...without(
      'innochecksum of ',
      [...tablespacesOf(workload), ...files],
      innochecksum.map(fileOf),
    ),
    ...without('comparison of the index ', indexes, compared.map(nameOfIndex)),
    ...(binlog === undefined && needsLog ? ['no binary log'] : []),
    ...without(
      'CHECKSUM TABLE of ',
      isKnown,
      named(({ checksum }) => checksum),
    ),
    ...without(
      'CHECKSUM TABLE after a restart of ',
      restarted.length > 0 ? isKnown : [],
      restarted,
    ),
    ...without(
      'CHECK TABLE of ',
      [...isKnown, ...checkedElsewhere],
      named(({ check }) => check),
    ),
  ];
};

const nameOfIndex = ({ table, index }: Pick<IndexCount, 'table' | 'index'>): string =>
  `${table}.${index}`;

/** On a real server with the database's name before it. */
const isTable = ({ table }: TableCheck, name: string): boolean =>
  table === name || table.endsWith(`.${name}`);

// What its readings say against each other, where no damage of the volume could be the reason.

export function ownContradictions(audited: AuditedImage): string[] {
  const { evidence, reconciliation } = audited;
  const { tables = [], binlog } = ownEvidence(evidence);
  const isSound = (name: string): boolean =>
    tables.some((each) => isTable(each, name) && each.check === 'OK');
  const found = evidence.indexCounts
    .filter(({ table, byPrimary, byIndex }) => byPrimary !== byIndex && isSound(table))
    .map(
      (each) =>
        `CHECK TABLE finds ${nameOfIndex(each)} as long as its table; it was read otherwise`,
    );
  if (reconciliation.disordered > 0 && isSound('ledger')) {
    found.push('CHECK TABLE finds the ids of the ledger in order; they were read otherwise');
  }
  if (binlog === undefined) return found;
  const [first = 0] = (audited.all ?? []).flatMap((each) => othersIn(each.evidence));
  const [others = first] = othersIn(evidence);
  if (others !== first) {
    found.push(
      `the binary log has ${others} transactions without a row; another copy's has ${first}`,
    );
  }
  return [...found, ...againstBinlog(binlog, audited)];
}

/** Transactions that are no commit of a client: those that make the schema. Its one change comes later. */
function othersIn(evidence: ImageEvidence): number[] {
  const { binlog } = ownEvidence(evidence);
  const { state = 'other' } = evidence.schema ?? {};
  if (binlog === undefined || state === 'other') return [];
  const rows = Object.values(binlog.rows)
    .flat()
    .reduce((sum, [from, to]) => sum + to - from + 1, 0);
  return [binlog.transactions - rows - (state === 'changed' ? 1 : 0)];
}

function againstBinlog(binlog: BinlogFound, { evidence: { serverUuid } }: AuditedImage): string[] {
  const { transactions, duplicateGtids, files, executed, purged } = binlog;
  const [there, known] = [parseGtids(binlog.gtids), parseGtids(executed)];
  const found: string[] = [];
  const count = sizeOf(there) + duplicateGtids;
  if (count !== transactions) {
    found.push(`the binary log has ${transactions} transactions, and GTIDs of ${count}`);
  }
  if (transactions > 0 && files.length === 0)
    found.push('the binary log has transactions and no file');
  if (serverUuid !== undefined && executed !== '' && !executed.includes(serverUuid)) {
    found.push(`the server is ${serverUuid}, and none of its GTIDs are`);
  }
  if (sizeOf(union(known, there, parseGtids(purged))) !== sizeOf(known)) {
    found.push(
      'the binary log has GTIDs that the server, which reads it when it starts, does not know',
    );
  }
  return found;
}

/** Log and table have the same operations of this one's session, with the same values. */
export const binlogHas: OwnPart['logHas'] = (op, { evidence, ledger }) => {
  const { binlog } = ownEvidence(evidence);
  const key = sessionKey(op);
  const ranges = binlog?.rows[key] ?? [];
  const isLogged = (seq: number): boolean => ranges.some(([from, to]) => from <= seq && seq <= to);
  if (!isLogged(op.seq) || binlog?.differing.includes(key) === true) return false;
  const log = ledger?.journal.session(op);
  if (log === undefined) return true;
  return Array.from({ length: log.length }, (_, seq) => seq).every(
    (seq) => ledger?.holds(log, seq) === isLogged(seq),
  );
};
