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
  type Lock,
  type UserClients,
  answered,
  currentOwner,
  describeError,
  encodeOwner,
  InfrastructureError,
  kubectl,
  mustBeAllowed,
  orMissing,
  readJson,
  takeFreeLock,
  tryLock,
  userClients,
  waitFor,
  writeOutput,
} from '../../core/index.ts';

/** A label by which a user and the reaper recognize our namespaces. */
export const sweepLabel = 'forcedetach.sweep';

export const labelsOf = (namespace: string): Record<string, string> => ({
  'app.kubernetes.io/managed-by': 'forcedetach',
  [sweepLabel]: 'yes',
  'forcedetach.run': namespace,
});

/**
 * Asks the cluster whether a sweep may run in a namespace that will be, and creates nothing. Throws
 * InfrastructureError `CLUSTER_FORBIDDEN`, and as `answered` does.
 */
export const mustBeAllowedIn = (access: UserClients, namespace: string): Promise<void> =>
  mustBeAllowed(access, [
    { verb: 'create', resource: 'namespaces' },
    { verb: 'delete', resource: 'namespaces' },
    { verb: 'create', resource: 'configmaps', namespace },
    { verb: 'create', group: 'batch', resource: 'jobs', namespace },
    { verb: 'get', group: 'batch', resource: 'jobs', namespace },
    { verb: 'list', resource: 'pods', namespace },
    { verb: 'get', resource: 'pods', subresource: 'log', namespace },
  ]);

/** Found again after the process is gone. */
const noteSchema = z.object({
  namespace: z.string().regex(/^[a-z0-9-]{1,63}$/),
  context: z.string(),
  /** KUBECONFIG as it was. */
  kubeconfig: z.string().optional(),
});

const goneMs = 120_000;

const notesFolder = (): string =>
  join(process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'forcedetach-sweeps');
const lockName = (namespace: string): string => `sweep/${namespace}`;

export const newSweepNamespace = (): string =>
  `forcedetach-sweep-${randomBytes(4).toString('hex')}`;

/** `remove` removes the namespace and all in it. What resists is reported, and left to `forcedetach clean`. */
export async function makeSweepNamespace(
  access: UserClients,
  namespace: string,
  say: (line: string) => void,
): Promise<{ readonly remove: () => Promise<void> }> {
  const lock = await takeFreeLock(
    lockName(namespace),
    `process ${process.pid}`,
    (other) =>
      new InfrastructureError('NAMESPACE_BUSY', `${other} is using the namespace ${namespace}`, {
        hint: 'the same command makes a namespace with another name',
        again: [],
      }),
  );
  const kubeconfig = process.env['KUBECONFIG']
    ?.split(delimiter)
    .map((file) => resolve(file))
    .join(delimiter);
  const notePath = join(notesFolder(), `${namespace}.json`);
  await mkdir(notesFolder(), { recursive: true });
  writeOutput(notePath, JSON.stringify({ namespace, context: access.context, kubeconfig }));
  const remove = async (): Promise<void> => {
    try {
      await removeNamespace(access, namespace);
      await rm(notePath, { force: true });
    } catch (error) {
      say(`the namespace ${namespace} stays: ${describeError(error)}`);
      say('npx forcedetach clean removes it');
    }
    await lock.release();
  };
  try {
    // The API server itself holds its pods to the restricted profile.
    const enforce = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    const labels = { ...labelsOf(namespace), ...enforce };
    const annotations = { 'forcedetach.owner': encodeOwner(currentOwner()) };
    const body = { metadata: { name: namespace, labels, annotations } };
    await answered(access, 'making a namespace', access.core.createNamespace({ body }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { remove };
}

/** Resolves once it is gone. */
async function removeNamespace(access: UserClients, name: string): Promise<void> {
  const { core } = access;
  const removing = `removing the namespace ${name}`;
  const found = await answered(access, removing, orMissing(core.readNamespace({ name })));
  if (found?.metadata?.labels?.[sweepLabel] === undefined) return;
  await answered(access, removing, orMissing(core.deleteNamespace({ name })));
  const command = kubectl(access, `describe namespace ${name}`);
  const what = `the namespace ${name} is gone`;
  await waitFor({ what, timeoutMs: goneMs, everyMs: 500, command }, async () => {
    const left = await orMissing(core.readNamespace({ name }));
    return left === undefined ? true : `it is ${left.status?.phase ?? 'there'}`;
  });
}

interface SweepReap {
  readonly removed: readonly string[];
  /** Those that could not be removed, and why. */
  readonly resisted: readonly { readonly namespace: string; readonly why: string }[];
}

/** Removes the namespaces whose processes are gone; they are on whatever cluster they were made. */
export async function reapSweeps(say: (line: string) => void): Promise<SweepReap> {
  const removed: string[] = [];
  const resisted: { namespace: string; why: string }[] = [];
  // A note that was cut names no namespace: it can only be looked at.
  const hint = 'the sweep that wrote it may have left a namespace; look, then delete the note';
  const files = await readdir(notesFolder()).catch(() => []);
  for (const file of files.filter((name) => name.endsWith('.json'))) {
    const path = join(notesFolder(), file);
    let name = path;
    let lock: Lock | undefined;
    try {
      const kind = { kind: 'note', schema: noteSchema, hint, example: path };
      const { namespace, context, kubeconfig } = readJson(path, kind);
      name = namespace;
      lock = tryLock(lockName(namespace), `process ${process.pid}, which removes it`);
      if (lock === undefined) continue;
      say(`removing the namespace ${namespace} that a sweep on ${context} left behind`);
      await removeNamespace(await userClients(context, kubeconfig), namespace);
      await rm(path, { force: true });
      removed.push(namespace);
    } catch (error) {
      resisted.push({ namespace: name, why: describeError(error) });
    } finally {
      await lock?.release();
    }
  }
  return { removed, resisted };
}
