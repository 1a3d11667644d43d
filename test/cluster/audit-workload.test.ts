/**
 * What the audit says of documents, deletions, the change of the schema, logins and the binary log: of
 * each kind of damage its own finding, and nothing of a volume that has none. As audit.test.ts, without
 * Kubernetes.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { realClock } from '../../lib/core/time.ts';
import { kindAuditor } from '../../lib/kind/testbed.ts';
import { ordinaryClient, schemaChange } from '../../lib/mysql/schema.ts';
import type { Judgement } from '../../lib/judge/checkers/index.ts';
import type { LedgerRow } from '../../lib/history/evidence.ts';
import { ackedIn, judge } from '../support/bare-images.ts';
import type { AuditedCopy } from '../../research/mutants/mutant-case.ts';
import { deletionOf, documentBody, Chain } from '../../lib/history/workload.ts';
import type { WriterRecord } from '../../lib/run/workload.ts';
import { BareHost } from './bare-host.ts';
import { missingForBareHost, testLoops } from './bare-lab.ts';
import type { BareServer } from './bare-server.ts';
import type { BareVolume } from './bare-volume.ts';
import { mysql } from '../../lib/mysql/database.ts';
import { ownEvidence } from '../../lib/mysql/evidence.ts';

const reason = await missingForBareHost();
if (reason !== undefined) console.warn(`skipped: the audit of the workload ${reason}`);

const seed = 'audit-workload';
const client = 'outside';
const clock = realClock();
const timeout = 900_000;
/** The first document of a session, which its operation 6 deletes. */
const deleted = { client, connection: 0, session: 0, seq: 2 };
const { user } = ordinaryClient;

interface Damage {
  readonly name: string;
  readonly by: (server: BareServer) => readonly string[] | Promise<readonly string[]>;
  readonly codes: readonly string[];
}

/** A commit that the client was told of, and whose transaction the binary log never had. */
function unlogged(): { readonly statements: readonly string[]; readonly records: WriterRecord[] } {
  const id = { client, connection: 9, session: 0 };
  const { seq, kind, fromAccount, toAccount, previousHash, hash } = new Chain(seed, id).next();
  const values = `'${client}', 9, 0, ${seq}, '${kind}', ${fromAccount}, ${toAccount}, 0`;
  const insert =
    'INSERT INTO forcedetach.ledger (client, connection, session, seq, kind, from_account,' +
    ` to_account, amount, previous_hash, hash) VALUES (${values}, X'${previousHash}', X'${hash}')`;
  const t = clock.nowMs();
  return {
    statements: ['SET sql_log_bin = 0', insert],
    records: [
      { type: 'invoke', ...id, seq, t, kind },
      { type: 'outcome', ...id, seq, t, outcome: 'ok' },
    ],
  };
}

const damages: readonly Damage[] = [
  { name: 'nothing', by: () => [], codes: [] },
  {
    name: 'a deleted document that is back, byte for byte',
    by: () => {
      const body = documentBody(seed, deleted).toString('hex');
      return [`INSERT INTO forcedetach.document VALUES ('${client}', 0, 0, 2, X'${body}')`];
    },
    codes: ['DELETE_HALF'],
  },
  {
    name: 'a byte of a document outside its page',
    by: () => [
      "UPDATE forcedetach.document SET body = INSERT(body, 9000, 1, X'00') WHERE seq = 4 AND connection = 1",
    ],
    codes: ['DOCUMENT_TORN'],
  },
  {
    name: 'a document that is gone',
    by: () => ['DELETE FROM forcedetach.document WHERE seq = 4 AND connection = 1'],
    codes: ['DOCUMENT_MISSING'],
  },
  {
    name: 'a change of the schema by halves',
    by: () => ['ALTER TABLE forcedetach.account ADD COLUMN branch int unsigned NOT NULL DEFAULT 7'],
    codes: ['SCHEMA_HALF_CHANGED'],
  },
  {
    name: 'a change of the schema that nobody journaled',
    by: () => ['USE forcedetach', schemaChange],
    codes: ['SCHEMA_CHANGE_UNJOURNALED'],
  },
  {
    name: 'grants that are gone',
    by: () => [`REVOKE ALL ON forcedetach.* FROM '${user}'@'%'`],
    codes: ['LOGIN_REFUSED'],
  },
  {
    name: 'a server that refuses every login',
    by: () => ["UPDATE mysql.user SET account_locked = 'Y'"],
    codes: ['LOGIN_REFUSED'],
  },
  {
    name: 'an account that may do everything',
    by: () => [`GRANT ALL ON *.* TO '${user}'@'%'`],
    codes: ['LOGIN_UNLIMITED'],
  },
  {
    name: 'a gap in the GTIDs',
    by: async (server) => {
      const [row] = await server.query('SELECT @@server_uuid AS uuid');
      return [`SET gtid_next = '${String(row?.['uuid'])}:900000'`, 'BEGIN', 'COMMIT'];
    },
    codes: ['GTID_GAP'],
  },
];

describe.skipIf(reason !== undefined)('the audit of the workload', { timeout }, () => {
  let host: BareHost;
  beforeAll(async () => {
    host = await BareHost.start((line) => console.log(`  ${line}`));
  });
  afterAll(() => host[Symbol.asyncDispose]());

  async function auditNow(volume: BareVolume): Promise<AuditedCopy> {
    const takenAtMs = clock.nowMs();
    await volume.copy('first');
    const rows: LedgerRow[] = [];
    const auditor = kindAuditor({ real: mysql.real, lab: host.lab, loop: testLoops.audit, seed });
    const evidence = await auditor.audit('first', (row) => rows.push(row));
    return { image: 'first', takenAtMs, evidence, rows };
  }

  function judged(records: readonly WriterRecord[], copy: AuditedCopy): string[] {
    const { findings }: Judgement = judge(seed, records, [copy]);
    for (const { code, summary, evidence } of findings)
      console.log(`  ${code}: ${summary}; ${evidence[0]}`);
    return [...new Set(findings.map(({ code }) => code))].toSorted();
  }

  let written = 0;
  async function writtenVolume(): Promise<{
    readonly volume: BareVolume;
    readonly records: readonly WriterRecord[];
  }> {
    const volume = await host.newVolume(`workload-${written++}`);
    const disk = await volume.attach('a');
    const server = await disk.startServer();
    const writer = server.write({ client, connections: 2, rate: 'max' }, seed, clock);
    while (ackedIn(writer.records) < 60) await sleep(20);
    await writer.stop();
    await server.stop();
    await disk.detach();
    return { volume, records: writer.records };
  }

  async function harm(volume: BareVolume, by: Damage['by']): Promise<void> {
    const disk = await volume.attach('a');
    const server = await disk.startServer();
    await server.session(await by(server));
    await server.stop();
    await disk.detach();
  }

  test.each(damages)('$name: $codes', async ({ by, codes }) => {
    const { volume, records } = await writtenVolume();
    await harm(volume, by);
    const copy = await auditNow(volume);
    expect(copy.evidence.failures).toEqual([]);
    expect(judged(records, copy)).toEqual(codes);
    expect(deletionOf(deleted.seq)).toBe(6);
    const { documents } = copy.evidence;
    const { binlog } = ownEvidence(copy.evidence);
    expect(Object.keys(documents?.found ?? {})).toContain('outside/0/0');
    expect(binlog?.transactions).toBeGreaterThan(60);
  });

  test('a commit that the binary log lacks', async () => {
    const { volume, records } = await writtenVolume();
    const { statements, records: more } = unlogged();
    await harm(volume, () => statements);
    const codes = judged([...records, ...more], await auditNow(volume));
    expect(codes).toEqual(['BINLOG_TRANSACTION_MISSING']);
  });

  test('a binary log whose last file is cut short after a clean stop', async () => {
    const { volume, records } = await writtenVolume();
    const disk = await volume.attach('a');
    const last = 'cd "$1/data"; f=$(tail -n 1 binlog.index)';
    await host.sh(`${last}; truncate -s $(( $(stat -c %s "$f") - 700 )) "$f"`, disk.mountPoint);
    await disk.detach();
    const codes = judged(records, await auditNow(volume));
    expect(codes).toContain('BINLOG_DAMAGED');
    expect(codes).toContain('BINLOG_TRANSACTION_MISSING');
  });

  test('a file of the binary log that is gone', async () => {
    const { volume, records } = await writtenVolume();
    const disk = await volume.attach('a');
    await host.sh('cd "$1/data"; rm "$(head -n 1 binlog.index)"', disk.mountPoint);
    await disk.detach();
    expect(judged(records, await auditNow(volume)).join()).toMatch(/BINLOG|GTID|SERVER/);
  });
});
