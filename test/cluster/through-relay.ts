/** Single statements to the database behind a relay's socket, and who gets there without one. */
import mysql from 'mysql2/promise';
import { $ } from '../../lib/kind/engine/shell.ts';

/** The server that answers behind the socket, by what its node and pod called it. */
export async function whoAnswers(socketPath: string): Promise<unknown> {
  const connection = await mysql.createConnection({ socketPath, user: 'root' });
  try {
    const [rows] = await connection.query('select @@report_host as node, @@report_user as uid');
    return rows;
  } finally {
    await connection.end();
  }
}

export async function create(socketPath: string, database: string): Promise<void> {
  const connection = await mysql.createConnection({ socketPath, user: 'root' });
  await connection.query(`create database ${database}`);
  await connection.end();
}

/**
 * Whom the database greets at its own address: the run from its lab, the host, and a container on the
 * engine's default network. Its root has no password, so the last two must not. A connection alone says
 * nothing: a gateway on the way out may take one for whatever address.
 */
export async function whoReaches(
  lab: string,
  image: string,
  ip: string,
): Promise<Readonly<Record<'run' | 'host' | 'others', boolean>>> {
  const listen = ['4', 'socat', '-u', `TCP:${ip}:3306,connect-timeout=3`, 'STDOUT'];
  const quiet = $({ nothrow: true, quiet: true });
  const [run, host, others] = await Promise.all([
    quiet`docker exec ${lab} timeout ${listen}`,
    quiet`timeout ${listen}`,
    quiet`docker run --rm --entrypoint timeout ${image} ${listen}`,
  ]);
  const greets = ({ stdout }: { readonly stdout: string }): boolean =>
    stdout.includes('caching_sha2_password');
  return { run: greets(run), host: greets(host), others: greets(others) };
}
