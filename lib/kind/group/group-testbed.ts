/** A replication group on a kind cluster: three servers on three nodes, observed and broken. */
import { randomUUID } from 'node:crypto';
import { driverName } from '../../storage/index.ts';
import {
  type GroupDatabase,
  tolerationSecondsOf,
  type MemberClient,
  realOf,
  type DatabaseServer,
  type Closes,
  type GroupTestbed,
  type TestbedOptions,
  withPodTimers,
} from '../../run/index.ts';
import { groupSize } from '../../scenario/index.ts';
import {
  apply,
  type KubeClients,
  waitFor,
  InfrastructureError,
  type RealClock,
} from '../../core/index.ts';
import { hasQuorum, type Recorder } from '../../history/index.ts';
import { ClientSockets, startWriterProcesses } from '../clients/writers.ts';
import { removeGroup, selectorOf } from '../labelled.ts';
import { readManifest } from '../objects.ts';
import type { ImageSet } from '../images/image-plan.ts';
import type { Cluster } from '../cluster.ts';
import { kindControlPlane } from '../create/control-plane.ts';
import { diskTool, kindDisk } from '../disk/disk.ts';
import { kubernetesOf } from '../kubernetes.ts';
import { observeApi } from '../observe/api.ts';
import { observeLogs } from '../observe/logs.ts';
import { observeMachine, versionsOf } from '../observe/cluster.ts';
import { soleScope } from '../scope.ts';
import { restoreNodes } from '../undo-remedies.ts';
import {
  type GroupWatch,
  type MemberPod,
  memberPods,
  MemberWays,
  observeGroup,
} from './observe-group.ts';

/** Size of each member's volume; sparse. */
const volumeBytes = 2 * 1024 ** 3;
const terminationGraceMs = 30_000;
/** A statement of the set-up. A server that cannot join a group says so after 60 s. */
const setupDeadlineMs = 90_000;

interface GroupTestbedOptions extends TestbedOptions {
  readonly cluster: Cluster;
  readonly images: ImageSet;
  readonly clock: RealClock;
}

/** Takes the cluster over: closing the testbed releases it, and so does an error here. */
export async function openGroupTestbed(
  options: GroupTestbedOptions,
): Promise<GroupTestbed & Closes> {
  const { cluster, images, scenario, runId, seed, folder, signal, onProgress, clock } = options;
  const { database } = options;
  const real = realOf(database);
  const group = await groupOf(options);
  // Undone in reverse order, each step whatever becomes of the others.
  await using opening = new AsyncDisposableStack();
  opening.defer(() => cluster.release());
  opening.defer(() => cluster.relays.closeAll());
  const clients = await cluster.kube();
  const volumes = Array.from({ length: groupSize }, (_, member) => `fd-${runId}-${member}`);
  for (const volume of volumes) {
    opening.defer(() => diskTool(cluster.lab, 'remove-volume', { volume }));
    const blank = { volume, 'size-bytes': volumeBytes, mode: 'unfenced' };
    await diskTool(cluster.lab, 'create-volume', blank);
  }
  onProgress(`three ${database.title} servers start on empty volumes`);
  opening.defer(() => removeGroup(clients, group, { signal: AbortSignal.timeout(120_000) }));
  const pods = await deployGroup(clients, options, group, volumes);
  const ways = new MemberWays(clients, group, cluster.relays, pods);
  onProgress('they form a group');
  const routes = await formed(pods, ways, { group, server: await real.server() }, signal);
  const versions = await versionsOf(cluster, images);
  opening.defer(() => restoreNodes(cluster));
  const opened = opening.move();
  let watch: GroupWatch | undefined;
  const insideNode = pods[0]?.node ?? '';

  return {
    clock,
    timers: withPodTimers(cluster.timers, {
      tolerationMs: scenario.timers.toleration,
      terminationGraceMs,
    }),
    versions,
    nodes: cluster.nodes,
    controlPlane: kindControlPlane(cluster.controlPlane),
    kubernetes: kubernetesOf(clients, cluster.controlPlane, soleScope(database)),
    machine: (node) => cluster.machine(node),
    members: () => ways.pods,
    disk: (node) =>
      kindDisk({
        lab: cluster.lab,
        volume: volumes[pods.findIndex((pod) => pod.node === node)] ?? '',
        mode: 'unfenced',
        powerLoss: scenario.fault.powerLoss,
        seed,
        originNs: clock.originNs,
        machine: (name) => cluster.machine(name),
      }),
    views: (side) => watch?.views(side) ?? [],
    async observe(recorder) {
      await using stack = new AsyncDisposableStack();
      await observeCluster(options, group, recorder, stack);
      watch = stack.use(observeGroup({ group, ways, routes, insideNode, clock, recorder }));
      return stack.move();
    },
    startWriters: (specs) =>
      startWriterProcesses({ specs, real, folder, originNs: clock.originNs, seed, routes }),
    readLedger: async (node, upTo, onRow) =>
      group.readLedger(await ways.path('inside', node), { node, upTo, seed, onRow }),
    close: () => opened.disposeAsync(),
  };
}

/** Resolves once every pod is Ready; the servers know nothing of each other yet. */
async function deployGroup(
  clients: KubeClients,
  { database, scenario, images, signal }: GroupTestbedOptions,
  group: GroupDatabase,
  volumes: readonly string[],
): Promise<readonly MemberPod[]> {
  const size = { SIZE_BYTES: volumeBytes };
  for (const [MEMBER, VOLUME_HANDLE] of volumes.entries()) {
    const volume = { ...size, MEMBER, VOLUME_HANDLE, DRIVER: driverName };
    await apply(clients, await readManifest(`${database.name}/group-volume.yaml`, volume));
  }
  const values = {
    ...{ ...group.template.values(images.database, scenario, randomUUID()), ...size },
    TOLERATION_SECONDS: tolerationSecondsOf(scenario.timers.toleration),
  };
  await apply(clients, await readManifest(`${database.name}/group.yaml`, values));
  const what = `the ${groupSize} members' pods are Ready`;
  const command = `kubectl describe pods --selector ${selectorOf(group)}`;
  return waitFor({ what, timeoutMs: 240_000, signal, command }, async () => {
    const ready = (await memberPods(clients, group)).filter((pod) => pod.ready);
    return ready.length === groupSize ? ready : `${ready.length} of ${groupSize} are`;
  });
}

/** Throws InfrastructureError `NO_GROUP`. */
async function groupOf({ database }: GroupTestbedOptions): Promise<GroupDatabase> {
  const group = await realOf(database).group?.();
  if (group !== undefined) return group;
  throw new InfrastructureError('NO_GROUP', `${database.title} has no group of servers`);
}

/** The group stands, with an empty ledger, and both clients' routes lead to its primary. */
async function formed(
  pods: readonly MemberPod[],
  ways: MemberWays,
  { group, server }: { group: GroupDatabase; server: DatabaseServer },
  signal: AbortSignal,
): Promise<ClientSockets> {
  const members = pods.map(({ node, ip }) => {
    const path = (): Promise<string> => ways.path('outside', node);
    return { ip, client: group.memberClient({ path, user: 'root', deadlineMs: setupDeadlineMs }) };
  });
  const primary = pods[0]?.node ?? '';
  const routes = new ClientSockets();
  try {
    await formGroup(group, members, signal);
    routes.lead('inside', await ways.path('inside', primary));
    routes.lead('outside', await ways.path('outside', primary));
    await server.prepareSchema(routes);
    for (const statement of group.makeOrdinaryUser) await members[0]?.client.query(statement);
  } finally {
    for (const { client } of members) client.close();
  }
  return routes;
}

async function observeCluster(
  { cluster, clock }: GroupTestbedOptions,
  group: GroupDatabase,
  recorder: Recorder,
  stack: AsyncDisposableStack,
): Promise<void> {
  const { config } = await cluster.kube();
  const scope = { kubeConfig: config, namespace: 'default', podSelector: selectorOf(group) };
  stack.use(observeMachine(recorder));
  stack.use(observeLogs('server', cluster, recorder, clock));
  stack.use(await observeApi(scope, recorder));
}

/** Makes a group of servers that know nothing of each other yet. The first becomes the primary. Resolves once each of them sees all of them online. */
async function formGroup(
  group: GroupDatabase,
  members: readonly { readonly ip: string; readonly client: MemberClient }[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const addresses = members.map(({ ip }) => ip);
  for (const { client } of members) await say(group, client, group.prepareMember(addresses));
  const [first, ...others] = members;
  if (first !== undefined) await say(group, first.client, group.bootstrap);
  await Promise.all(others.map(({ client }) => say(group, client, group.join)));
  const what = `all ${members.length} members are online`;
  await waitFor({ what, timeoutMs: 60_000, signal }, async () => {
    for (const { client } of members) {
      const view = await group.view(client);
      const online = view.members.filter(({ state }) => state === 'ONLINE').length;
      if (!hasQuorum(view) || online < members.length) return `${view.node} sees ${online}`;
    }
    return true;
  });
}

async function say(
  group: GroupDatabase,
  client: MemberClient,
  statements: readonly string[],
): Promise<void> {
  for (const statement of statements) {
    await client.query(statement).catch((cause: unknown) => {
      throw new InfrastructureError('GROUP_NOT_FORMED', `a member refused: ${statement}`, {
        hint: 'its error log has the reason',
        command: `kubectl logs --selector ${selectorOf(group)} --prefix --tail 30`,
        cause,
      });
    });
  }
}
