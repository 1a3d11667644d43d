/** What can be read from the mounted copy before and after any server ran on it. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandEvidence } from '../../core/index.ts';
import { canaryContentOf, canaryFolder, runTool } from '../../storage/index.ts';
import { mysqlLog } from '../log.ts';

const innochecksumTimeoutMs = 180_000;
const maxCanaryLength = 4096;

/** Content by name of the volume's crash canaries; none where there are none. */
export async function readCanaries(mountPoint: string): Promise<Record<string, string>> {
  const folder = join(mountPoint, canaryFolder);
  const canaries: Record<string, string> = {};
  for (const name of await namesIn(folder)) {
    const content = await readFile(join(folder, name), 'utf8');
    canaries[name] = canaryContentOf(content.slice(0, maxCanaryLength));
  }
  return canaries;
}

/** True where MySQL's image would initialise a new database: nothing there but what mkfs makes. */
export async function looksEmpty(dataDirectory: string): Promise<boolean> {
  return (await namesIn(dataDirectory)).every((name) => name === 'lost+found');
}

/** server_uuid as auto.cnf has it. */
export async function serverUuid(dataDirectory: string): Promise<string | undefined> {
  const text = await readFile(join(dataDirectory, 'auto.cnf'), 'utf8').catch(() => '');
  return /^server[-_]uuid\s*=\s*(\S+)/m.exec(text)?.[1];
}

/** Every tablespace, page by page. Only after a clean stop: before recovery pages may be stale. */
export async function innochecksums(
  dataDirectory: string,
  signal: AbortSignal,
): Promise<CommandEvidence[]> {
  const files = await readdir(dataDirectory, { recursive: true });
  const answers: CommandEvidence[] = [];
  const { troubles } = mysqlLog;
  // A page of any bytes makes it divide by zero.
  const limits = { timeoutMs: innochecksumTimeoutMs, signal, mayCrash: true, troubles };
  for (const file of files.filter(isTablespace).toSorted()) {
    const argv = ['innochecksum', join(dataDirectory, file)];
    answers.push(await runTool(argv, limits));
  }
  return answers;
}

const isTablespace = (file: string): boolean =>
  /(^|\/)([^/]+\.ibd|ibdata\d+|undo_\d+)$/.test(file) && !file.startsWith('#innodb_temp');

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
