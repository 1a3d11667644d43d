/**
 * The audit's reading of a server that runs already: `node audit-pass.ts SOCKET SEED DATA-DIRECTORY`
 * in the lab, with the code and the wire of the audit tool.
 */
import { once } from 'node:events';
import { nothingRead, type ImageEvidence } from '../../lib/history/evidence.ts';
import { beginBinlog, foundInBinlog } from '../../lib/mysql/audit/binlog/beside.ts';
import { EvidenceDraft } from '../../lib/mysql/audit/evidence-draft.ts';
import { SqlClient } from '../../lib/mysql/audit/sql-client.ts';
import { encodeRows, type AuditMessage } from '../../lib/storage/audit/wire.ts';

/** What it says at last. */
export interface PassEnd {
  readonly type: 'end';
  readonly evidence: ImageEvidence;
  /** Highest resident memory of the process. */
  readonly rssMiB: number;
}

const [socketPath = '', seed = '', dataDirectory = ''] = process.argv.slice(2);

const say = async (message: AuditMessage | PassEnd): Promise<void> => {
  if (process.stdout.write(`${JSON.stringify(message)}\n`)) return;
  await once(process.stdout, 'drain');
};

const binlog = beginBinlog(dataDirectory);
const client = await SqlClient.connect(socketPath);
const server = { died: undefined, diedSoon: () => Promise.resolve(false) };
const draft = new EvidenceDraft(new AbortController().signal);
const pass = await draft.readRows(client, server, {
  seed,
  onRows: (rows) => say(encodeRows(rows)),
});
await draft.readBeyondRows(client, server, { seed, mixes: pass?.mixes });
await draft.ask('binlog', server, async () => {
  draft.evidence.binlog = await foundInBinlog(client, await binlog.read, pass?.sessions ?? {});
});
client.destroy();
const evidence = { ...nothingRead(), ...draft.evidence, mounted: true };
await say({ type: 'end', evidence, rssMiB: process.resourceUsage().maxRSS / 1024 });
