/**
 * Reads and changes attachment records on the shared directory. Whoever changes one holds the lock,
 * and a change appears whole or not at all, so any process may die at any time.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readFile, rename } from 'node:fs/promises';
import { status } from '@grpc/grpc-js';
import { InfrastructureError } from '../../core/index.ts';
import { CallError } from './grpc.ts';
import { type Layout, isName, recordPath } from './layout.ts';
import { type VolumeRecord, recordSchema } from './record.ts';

/** How long to wait for another holder of the lock; holders need milliseconds. */
const lockTimeoutS = 20;

/** Undefined where there is no such volume. */
export async function readRecord(
  layout: Layout,
  volume: string,
): Promise<VolumeRecord | undefined> {
  const text = await readIfThere(recordPath(layout, volume));
  return text === undefined ? undefined : recordSchema.parse(JSON.parse(text));
}

/** Every volume with its record, by handle. */
export async function readRecords(layout: Layout): Promise<Map<string, VolumeRecord>> {
  const records = new Map<string, VolumeRecord>();
  for (const volume of (await readdir(layout.volumes).catch(absent)) ?? []) {
    const record = isName(volume) ? await readRecord(layout, volume) : undefined;
    if (record !== undefined) records.set(volume, record);
  }
  return records;
}

/** The change is on disk when this resolves. Only for holders of the lock. */
export const writeRecord = (layout: Layout, volume: string, record: VolumeRecord): Promise<void> =>
  writeWhole(recordPath(layout, volume), `${JSON.stringify(record, null, 2)}\n`);

/** Rejects with NOT_FOUND where there is no such volume. */
export async function neededRecord(layout: Layout, volume: string): Promise<VolumeRecord> {
  const record = await readRecord(layout, volume);
  if (record === undefined) throw new CallError(status.NOT_FOUND, `there is no volume ${volume}`);
  return record;
}

/** Changes one volume's record under the lock. Rejects with NOT_FOUND where there is none. */
export const updateRecord = (
  layout: Layout,
  volume: string,
  change: (record: VolumeRecord) => VolumeRecord,
): Promise<VolumeRecord> =>
  locked(layout, async () => {
    const changed = change(await neededRecord(layout, volume));
    await writeRecord(layout, volume, changed);
    return changed;
  });

/**
 * Runs `work` while no other process in any container changes a record. flock(1) holds the lock, and
 * the kernel takes it back when this process dies: a lock file could outlive its owner.
 */
export async function locked<T>(layout: Layout, work: () => Promise<T>): Promise<T> {
  await mkdir(layout.root, { recursive: true });
  const holder = spawn(
    'flock',
    ['--wait', String(lockTimeoutS), layout.lock, 'sh', '-c', 'echo held; exec cat'],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const ended = once(holder, 'exit');
  const first = await Promise.race([once(holder.stdout, 'data'), ended]);
  if (!String(first[0]).startsWith('held')) {
    throw new InfrastructureError('RECORD_LOCKED', `could not lock ${layout.lock}`, {
      hint: `Another process held it for ${lockTimeoutS} s; see which with the command.`,
      command: `fuser -v ${layout.lock}`,
    });
  }
  try {
    return await work();
  } finally {
    holder.stdin.end();
    await ended;
  }
}

/** The new content is on disk when this resolves; a reader sees it whole or the old one. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const file = await open(fresh, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}

/** Undefined where there is no such file. */
export const readIfThere = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch(absent);

/** Swallows that a file or directory is not there, and no other error. */
export function absent(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
