/**
 * The namespace that a sweep has for itself, and a note of it on this machine, by which a later
 * start removes what a killed one left. Only namespaces that bear our label are removed.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { z } from 'zod';
import {
  orMissing,
  currentOwner,
  encodeOwner,
  waitFor,
  describeError,
  InfrastructureError,
  readJson,
  takeFreeLock,
  tryLock,
  writeOutput,
  type UserClients,
  answered,
  kubectl,
  userClients,
} from '../../core/index.ts';
import { namespaceObject, sweepLabel } from './job.ts';

/** Found again after the process is gone. */
const noteSchema = z.object({
  namespace: z.string().regex(/^[a-z0-9-]{1,63}$/),
  context: z.string(),
  /** KUBECONFIG as it was. */
  kubeconfig: z.string().optional(),
});
type NamespaceNote = z.output<typeof noteSchema>;

export interface SweepNamespace {
  readonly namespace: string;
  /** Removes the namespace and all in it. What resists is told, and left to `forcedetach clean`. */
  remove(): Promise<void>;
}

const goneMs = 120_000;

const notesFolder = (): string =>
  join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'forcedetach-sweeps');
const notePath = (namespace: string): string => join(notesFolder(), `${namespace}.json`);
const lockName = (namespace: string): string => `sweep/${namespace}`;

export const newSweepNamespace = (): string =>
  `forcedetach-sweep-${randomBytes(4).toString('hex')}`;

export async function makeSweepNamespace(
  access: UserClients,
  namespace: string,
  say: (line: string) => void,
): Promise<SweepNamespace> {
  const lock = await takeFreeLock(
    lockName(namespace),
    `process ${process.pid}`,
    (other) =>
      new InfrastructureError('NAMESPACE_BUSY', `${other} is using the namespace ${namespace}`, {
        hint: 'the same command makes a namespace with another name',
        again: [],
      }),
  );
  const files = process.env['KUBECONFIG']?.split(delimiter).map((file) => resolve(file));
  const kubeconfig = files === undefined ? {} : { kubeconfig: files.join(delimiter) };
  const note: NamespaceNote = { namespace, context: access.context, ...kubeconfig };
  await mkdir(notesFolder(), { recursive: true });
  writeOutput(notePath(namespace), JSON.stringify(note));
  const remove = async (): Promise<void> => {
    try {
      await removeNamespace(access, namespace);
      await rm(notePath(namespace), { force: true });
    } catch (error) {
      say(`the namespace ${namespace} stays: ${describeError(error)}`);
      say('npx forcedetach clean removes it');
    }
    await lock.release();
  };
  try {
    const body = namespaceObject(namespace, encodeOwner(currentOwner()));
    await answered(access, 'making a namespace', access.core.createNamespace({ body }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { namespace, remove };
}

/** Resolves once it is gone. */
async function removeNamespace(access: UserClients, namespace: string): Promise<void> {
  const removing = `removing the namespace ${namespace}`;
  const reading = orMissing(access.core.readNamespace({ name: namespace }));
  const found = await answered(access, removing, reading);
  if (found?.metadata?.labels?.[sweepLabel] === undefined) return;
  const deleting = orMissing(access.core.deleteNamespace({ name: namespace }));
  await answered(access, removing, deleting);
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
  const files = await readdir(notesFolder()).catch(() => []);
  for (const file of files.filter((name) => name.endsWith('.json'))) {
    const path = join(notesFolder(), file);
    const note = readNote(path);
    if ('why' in note) {
      resisted.push({ namespace: path, why: note.why });
      continue;
    }
    const { namespace, context, kubeconfig } = note;
    const lock = tryLock(lockName(namespace), `process ${process.pid}, which removes it`);
    if (lock === undefined) continue;
    say(`removing the namespace ${namespace} that a sweep on ${context} left behind`);
    try {
      await removeNamespace(await userClients(context, kubeconfig), namespace);
      await rm(path, { force: true });
      removed.push(namespace);
    } catch (error) {
      resisted.push({ namespace, why: describeError(error) });
    } finally {
      await lock.release();
    }
  }
  return { removed, resisted };
}

/** A note that was cut names no namespace: it can only be looked at. */
function readNote(path: string): NamespaceNote | { readonly why: string } {
  const hint = 'the sweep that wrote it may have left a namespace; look, then delete the note';
  try {
    return readJson(path, { kind: 'note', schema: noteSchema, hint, example: path });
  } catch (error) {
    return { why: describeError(error) };
  }
}
