/**
 * The namespace that a sweep has for itself, and a note of it on this machine, by which a later
 * start removes what a killed one left. Only namespaces that bear our label are removed.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { orMissing } from '../../cluster/kind/kube.ts';
import { currentOwner, encodeOwner } from '../../cluster/kind/owner.ts';
import { waitFor } from '../../cluster/kind/wait.ts';
import { describeError } from '../../errors.ts';
import { lockHolder, takeLock } from '../../lock.ts';
import { accessTo, answered, inTime, kubectl, type Access } from './access.ts';
import { namespaceObject, sweepLabel } from './job.ts';

/** Found again after the process is gone. */
interface Note {
  readonly namespace: string;
  readonly context: string;
  /** KUBECONFIG as it was. */
  readonly kubeconfig?: string | undefined;
}

export interface Place {
  readonly namespace: string;
  /** Removes the namespace and all in it. What resists is told, and left to experiments/clean.mjs. */
  remove(): Promise<void>;
}

const goneMs = 120_000;

const notesFolder = (): string =>
  join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'forcedetach-sweeps');
const notePath = (namespace: string): string => join(notesFolder(), `${namespace}.json`);
const lockName = (namespace: string): string => `sweep/${namespace}`;

export const newNamespace = (): string => `forcedetach-sweep-${randomBytes(4).toString('hex')}`;

export async function makePlace(
  access: Access,
  namespace: string,
  say: (line: string) => void,
): Promise<Place> {
  const lock = await takeLock(lockName(namespace), `process ${process.pid}`);
  const files = process.env['KUBECONFIG']?.split(delimiter).map((file) => resolve(file));
  const note: Note = { namespace, context: access.context, kubeconfig: files?.join(delimiter) };
  await mkdir(notesFolder(), { recursive: true });
  await writeFile(notePath(namespace), JSON.stringify(note));
  const remove = async (): Promise<void> => {
    try {
      await removeNamespace(access, namespace);
      await rm(notePath(namespace), { force: true });
    } catch (error) {
      say(`the namespace ${namespace} stays: ${describeError(error)}`);
      say('npx zx experiments/clean.mjs removes it');
    }
    await lock.release();
  };
  try {
    const body = namespaceObject(namespace, encodeOwner(currentOwner()));
    await answered(access, 'a namespace was made', access.core.createNamespace({ body }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { namespace, remove };
}

/** Resolves once it is gone. */
async function removeNamespace(access: Access, namespace: string): Promise<void> {
  const found = await inTime(orMissing(access.core.readNamespace({ name: namespace })));
  if (found?.metadata?.labels?.[sweepLabel] === undefined) return;
  await orMissing(access.core.deleteNamespace({ name: namespace }));
  const command = kubectl(access, `describe namespace ${namespace}`);
  const what = `the namespace ${namespace} is gone`;
  await waitFor({ what, timeoutMs: goneMs, everyMs: 500, command }, async () => {
    const left = await orMissing(access.core.readNamespace({ name: namespace }));
    return left === undefined ? true : `it is ${left.status?.phase ?? 'there'}`;
  });
}

export interface SweepReap {
  readonly removed: readonly string[];
  /** Those that could not be removed, and why. */
  readonly resisted: readonly { readonly namespace: string; readonly why: string }[];
}

/** Removes the namespaces whose processes are gone; they are on whatever cluster they were made. */
export async function reapSweeps(say: (line: string) => void): Promise<SweepReap> {
  const removed: string[] = [];
  const resisted: { namespace: string; why: string }[] = [];
  for (const file of await readdir(notesFolder()).catch(() => [])) {
    const path = join(notesFolder(), file);
    const { namespace, context, kubeconfig } = JSON.parse(await readFile(path, 'utf8')) as Note;
    if ((await lockHolder(lockName(namespace))) !== undefined) continue;
    say(`removing the namespace ${namespace} that a sweep on ${context} left behind`);
    try {
      await removeNamespace(await accessTo(context, kubeconfig), namespace);
      await rm(path, { force: true });
      removed.push(namespace);
    } catch (error) {
      resisted.push({ namespace, why: describeError(error) });
    }
  }
  return { removed, resisted };
}
