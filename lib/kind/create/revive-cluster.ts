/** A kept cluster, made whole again after whatever an earlier run did to it. */
import { inspect, run } from '../engine/run.ts';
import * as engine from '../engine/commands.ts';
import { describeError, kubeClients } from '../../core/index.ts';
import { ensureArray, labIn } from '../disk/containers.ts';
import { mendControlPlane } from './control-plane.ts';
import {
  arrayOf,
  type CreateOptions,
  machinesOf,
  nodeAddresses,
  nodesReady,
  startStorage,
  type Standing,
} from './create-cluster.ts';
import { removeDatabase } from '../database.ts';
import { scopesBeside, soleScope } from '../scope.ts';
import { removeGroup, removeProcedures } from '../labelled.ts';
import { diskTool, listVolumes } from '../disk/disk.ts';
import { deployDriver } from './driver.ts';
import { exportKubeconfig } from './kind-command.ts';
import {
  engineName,
  labName,
  findCluster,
  isNodeName,
  type FoundCluster,
  isComplete,
  stateDirAt,
} from '../ownership/registry.ts';
import { leaseAt } from '../ownership/lease.ts';
import { boundLoops, releaseLoops } from '../ownership/labs.ts';
import { installCni, routeLab } from '../nodes/network.ts';
import { registerNodes, unmarkNodes } from '../undo-remedies.ts';

/**
 * Resolves to undefined where there is no such cluster, where it has another configuration, or
 * where it can't be mended: then a new one is made.
 */
export async function reviveCluster(options: CreateOptions): Promise<Standing | undefined> {
  const { labels, workers, onProgress, signal } = options;
  const found = await findCluster(labels.cluster);
  if (found === undefined || !found.hasNetwork || !found.hasVolume) return undefined;
  // Else it is a leftover of a dead run, in whatever state that left it.
  const { keep, stateDir, token } = found.labels;
  if (!keep || !isComplete(stateDir, token)) return undefined;
  if (found.labels.configHash !== labels.configHash) {
    onProgress(`replacing the cluster ${labels.cluster}: its configuration differs`);
    return undefined;
  }
  const nodes = found.containers.filter((each) => isNodeName(labels.cluster, each));
  if (nodes.length < workers + 1) return undefined;
  if (!(await options.hold.take(found.labels.index))) {
    onProgress(`replacing the cluster ${labels.cluster}: another engine took its lease`);
    return undefined;
  }
  onProgress(`reusing the cluster ${labels.cluster}`);
  try {
    const standing = await revive(options, found);
    await deployDriver({ ...options, standing });
    await cleanSlate(standing, options);
    return standing;
  } catch (error) {
    signal?.throwIfAborted();
    onProgress(`replacing it, since it cannot be repaired: ${describeError(error)}`);
    return undefined;
  }
}

async function revive(
  options: CreateOptions,
  { labels, containers }: FoundCluster,
): Promise<Standing> {
  const { database, kind, workers, signal } = options;
  const network = engineName(labels.cluster);
  const controlPlane = `${network}-control-plane`;
  const lab = labIn(labName(labels.cluster));
  const lease = leaseAt(labels.index);
  const state = stateDirAt(labels.stateDir);
  // A control plane that was stopped may come back under another port, so that it is made anew.
  await mustRun([controlPlane, lab.container]);
  await mendControlPlane(controlPlane);
  await ensureArray(arrayOf(options, labels));
  const { kubeconfig } = state;
  await exportKubeconfig(kind, { name: network, kubeconfig, signal });
  const clients = await kubeClients(kubeconfig);
  const isNode = (each: string): boolean => isNodeName(labels.cluster, each);
  await registerNodes(clients, containers.filter(isNode));
  const nodes = await nodeAddresses(clients, workers + 1, signal);
  const standing = { labels, lease, state, lab, nodes, clients };
  // What waits for the disk can neither be thawed nor booted: their initiators end, and it gets an error.
  const storage = await startStorage(options, standing);
  const machines = machinesOf(standing, database);
  await Promise.all(
    nodes.map(async (self) => {
      await diskTool(lab, 'restore', { node: self.node });
      await machines.get(self.node)?.mend();
      // A node that was deleted came back with another range.
      await installCni(self);
    }),
  );
  await routeLab(lab.container, nodes);
  await unmarkNodes(clients);
  await nodesReady(clients, 60_000, signal);
  return { ...standing, storage };
}

/** A dead run may have left its group, its database or a procedure's pods, its volumes, and devices of an array that died. */
async function cleanSlate(
  { clients, lab, lease, labels }: Standing,
  { database, signal }: CreateOptions,
): Promise<void> {
  await removeProcedures(clients, lab, signal);
  const group = await database.real?.group?.();
  if (group !== undefined) await removeGroup(clients, group, { signal });
  for (const scope of [soleScope(database), ...(await scopesBeside(clients, database))]) {
    await removeDatabase(clients, { signal, scope });
  }
  for (const volume of await listVolumes(lab)) await diskTool(lab, 'remove-volume', { volume });
  if ((await boundLoops(lease)).length === 0) return;
  // No array knows them: they would be held for ever.
  const { loops } = lease;
  const volume = engineName(labels.cluster);
  const left = await releaseLoops({ loops, holdsLease: true, volume, tools: labels.tools });
  if (left.length > 0) throw new Error(left.join('; '));
}

async function mustRun(containers: readonly string[]): Promise<void> {
  for (const found of (await inspect('container', containers)) as {
    Name: string;
    State: { Status: string };
  }[]) {
    if (found.State.Status === 'paused') await run(engine.unpause(found.Name));
    else if (found.State.Status !== 'running') throw new Error(`${found.Name} does not run`);
  }
}
