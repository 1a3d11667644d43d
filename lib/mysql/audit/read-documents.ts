/**
 * The documents, byte for byte. The server says the hash of each, so that no document travels but one
 * that is not what was written.
 */
import { hash } from 'node:crypto';
import { type DocumentsFound, documentBody, sessionKey, type OpId } from '../../history/index.ts';
import { databaseName } from '../schema.ts';
import type { SqlClient } from './sql-client.ts';

const table = `${databaseName}.document FORCE INDEX (PRIMARY)`;
/** Documents that are read whole; of more than so many torn ones only the names are told. */
const readWhole = 25;

export async function readDocuments(client: SqlClient, seed: string): Promise<DocumentsFound> {
  const found: Record<string, number[]> = {};
  const others: OpId[] = [];
  const rows = await client.query(
    'SELECT client, connection, session, seq, LENGTH(body) AS length, SHA2(body, 256) AS hash' +
      ` FROM ${table} ORDER BY client, connection, session, seq`,
  );
  for (const row of rows) {
    const { client, connection, session, seq } = row;
    const id = {
      ...{ client: String(client), connection: Number(connection) },
      ...{ session: Number(session), seq: Number(seq) },
    };
    (found[sessionKey(id)] ??= []).push(id.seq);
    const body = documentBody(seed, id);
    const fits = Number(row['length']) === body.length && row['hash'] === hash('sha256', body);
    if (!fits) others.push(id);
  }
  const torn: DocumentsFound['torn'][number][] = [];
  for (const [n, document] of others.entries()) {
    const how = n < readWhole ? await difference(client, document, seed) : 'not read again';
    torn.push({ document, how });
  }
  return { found, torn };
}

async function difference(client: SqlClient, id: OpId, seed: string): Promise<string> {
  const where = `client = '${id.client.replaceAll("'", "''")}' AND connection = ${id.connection}`;
  const [row] = await client.query(
    `SELECT body FROM ${table} WHERE ${where} AND session = ${id.session} AND seq = ${id.seq}`,
  );
  const body = row?.['body'];
  if (!Buffer.isBuffer(body)) return 'not there when it was read again';
  const expected = documentBody(seed, id);
  const differ = [...expected.keys()].filter((at) => body[at] !== expected[at]);
  if (differ.length === 0) return `${body.length} bytes, ${expected.length} were written`;
  const range = `from byte ${differ[0]} to ${differ.at(-1)}`;
  return `${body.length} of ${expected.length} bytes, ${differ.length} of them others, ${range}`;
}
