/** Single statements to the database behind a relay's socket. */
import mysql from 'mysql2/promise';

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
