/**
 * Clusters for real: made, shared by nobody, used side by side, broken, mended, removed. Whatever
 * is done here, the machine is afterwards as it was before.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { readForcedDetachMetric } from '../../lib/kind/observe/cluster.ts';
import { containerLog, controllerManagerLog, followPodLogs } from '../../lib/kind/observe/logs.ts';
import { $ } from '../../lib/kind/engine/shell.ts';
import { ensureCluster, type Cluster, type ClusterOptions } from '../../lib/kind/cluster.ts';
import { deployDatabase, removeDatabase } from '../../lib/kind/database.ts';
import { soleScope } from '../../lib/kind/scope.ts';
import { diskTool } from '../../lib/kind/disk/disk.ts';
import { mysql } from '../../lib/mysql/database.ts';
import { leaseAt, type Lease } from '../../lib/kind/ownership/lease.ts';
import { leasedLoops } from '../../lib/kind/ownership/labs.ts';
import { reap } from '../../lib/kind/ownership/reap.ts';
import { findCluster, findClusters } from '../../lib/kind/ownership/registry.ts';
import { parseScenario } from '../../lib/scenario/scenario.ts';
import { kubernetesDefault } from '../../lib/core/kubernetes.ts';
import { ensureImages, ensureKind } from '../../lib/kind/images/ensure.ts';
import { create, whoAnswers, whoReaches } from './through-relay.ts';

const minutes = 60_000;
const shell = $({ quiet: true });
const images = await ensureImages({
  source: 'auto',
  kubernetes: kubernetesDefault,
  onProgress: (line) => process.stderr.write(`${line}\n`),
});
const kind = await ensureKind();

/** Names of this test's clusters begin so, which tells them from any others on the machine. */
const prefix = 'ct';
const held: Cluster[] = [];
const leasesSeen = new Map<number, Lease>();

async function open(name: string, change: Partial<ClusterOptions> = {}): Promise<Cluster> {
  const common = {
    database: mysql,
    name: `${prefix}-${name}`,
    images,
    kind,
    runId: `test-${name}`,
    workers: 1,
  };
  const cluster = await ensureCluster({ ...common, ...change });
  held.push(cluster);
  leasesSeen.set(cluster.index, leaseAt(cluster.index));
  return cluster;
}

afterEach(async () => {
  for (const cluster of held.splice(0)) await cluster.release();
});
afterAll(async () => {
  await reap({ all: true, only: `${prefix}-kept` });
});

/** Everything on the machine that bears this test's name or lies in a lease it had. */
async function traces(): Promise<string[]> {
  const ours = (text: string): string[] =>
    text.split('\n').filter((line) => line.includes(`fd-${prefix}-`));
  // Another cluster on this machine may have taken a lease since it was given back.
  const others = (await findClusters()).filter(({ labels }) => !labels.cluster.startsWith(prefix));
  const taken = new Set(others.map(({ labels }) => labels.index));
  const leases = [...leasesSeen.values()].filter(({ index }) => !taken.has(index));
  const loops = await Promise.all(leases.map((lease) => leasedLoops(lease)));
  const state = join(homedir(), '.local', 'state', 'forcedetach');
  const states = existsSync(state) ? readdirSync(state) : [];
  const routes = (await shell`ip route show`).stdout.split('\n');
  return [
    ...ours((await shell`docker ps --all --format ${'container {{.Names}}'}`).stdout),
    ...ours((await shell`docker network ls --format ${'network {{.Name}}'}`).stdout),
    ...ours((await shell`docker volume ls --format ${'volume {{.Name}}'}`).stdout),
    ...ours(readFileSync('/proc/self/mounts', 'utf8')),
    ...loops.flat().map((number) => `loop${number}`),
    ...states.filter((name) => name.startsWith(`${prefix}-`)),
    ...routes.filter((line) => leases.some(({ subnet }) => line.includes(subnet))),
  ];
}

/** Volumes that Docker made for the nodes' /var: they have no name of ours. */
async function anonymousVolumes(cluster: Cluster): Promise<string[]> {
  const format = '{{range .Mounts}}{{if eq .Type "volume"}}{{.Name}} {{end}}{{end}}';
  const nodes = [cluster.controlPlane, ...cluster.nodes];
  return (await shell`docker inspect --format ${format} ${nodes}`).stdout.trim().split(/\s+/);
}

test('two clusters live side by side, and nothing of them stays', {
  timeout: 10 * minutes,
}, async () => {
  const [one, other] = await Promise.all([open('one'), open('other')]);
  expect(one.index).not.toBe(other.index);
  expect(one.loops.first).not.toBe(other.loops.first);
  for (const cluster of [one, other]) {
    const { core } = await cluster.kube();
    const names = (await core.listNode()).items.map(({ metadata }) => metadata?.name);
    expect(new Set(names)).toEqual(new Set([cluster.controlPlane, ...cluster.nodes]));
  }
  const volumes = [...(await anonymousVolumes(one)), ...(await anonymousVolumes(other))];
  expect(volumes.length).toBeGreaterThanOrEqual(4);

  await expect(open('one')).rejects.toMatchObject({ code: 'CLUSTER_BUSY' });

  await one.release();
  await other.release();
  expect(await traces()).toEqual([]);
  const left = (await shell`docker volume ls --quiet`).stdout.split('\n');
  expect(left.filter((name) => volumes.includes(name))).toEqual([]);
});

test('a kept cluster is mended and used again', {
  timeout: 10 * minutes,
}, async () => {
  const first = await open('kept', { keep: true });
  const worker = first.nodes[0] ?? '';
  await first.machine(worker).disconnect();
  await first.release();
  await shell`docker kill fd-ct-kept-array`;
  expect((await reap({ only: 'ct-kept' })).removed).toEqual([]);

  const second = await open('kept', { keep: true });
  expect(second.reused).toBe(true);
  expect(await second.machine(worker).reachesApi()).toBe(true);
  const array = await shell`docker inspect --format ${'{{.State.Status}}'} fd-ct-kept-array`;
  expect(array.stdout.trim()).toBe('running');
  expect((await diskTool(second.lab, 'restore', { node: worker })).link).toBe('pass');
  await second.release();
});

test('another configuration replaces a kept cluster; its database survives what is done to its node', {
  timeout: 10 * minutes,
}, async () => {
  const cluster = await open('kept', { graceMs: 10_000, workers: 2 });
  expect(cluster.reused).toBe(false);
  const clients = await cluster.kube();
  const volume = 'fd-ct-volume';
  const sizeBytes = 2 * 1024 ** 3;
  await diskTool(cluster.lab, 'create-volume', {
    volume,
    'size-bytes': sizeBytes,
    mode: 'unfenced',
  });
  const said: string[] = [];
  const restarts = new Set<number>();
  const scope = soleScope(mysql);
  await using logs = new AsyncDisposableStack();
  for (const node of cluster.nodes) {
    const files = containerLog(mysql.name, mysql.name);
    logs.use(followPodLogs(node, files, ({ text }) => said.push(text)));
  }
  const manager = cluster.controlPlane;
  logs.use(followPodLogs(manager, controllerManagerLog, ({ restart }) => restarts.add(restart)));
  const choice = parseScenario({
    name: 'cluster',
    question: '?',
    fault: { kind: 'node-crash' },
    expected: ['safe'],
  });

  const pods = { image: images.database, driverImage: images.driver, apiHost: 'not asked' };
  const options = { ...pods, scope, volumeHandle: volume, sizeBytes, choice };
  const pod = await deployDatabase(clients, options);
  const answer = [{ node: pod.node, uid: pod.uid }];

  const inside = await cluster.relays.open('inside', pod);
  const outside = await cluster.relays.open('outside', pod);
  expect(await cluster.relays.open('inside', pod)).toBe(inside);
  expect(await whoAnswers(inside)).toEqual(answer);
  expect(await whoAnswers(outside)).toEqual(answer);
  expect(await whoReaches(cluster.lab.container, images.tools, pod.ip)).toEqual({
    run: true,
    host: false,
    others: false,
  });
  const served = (): number => said.filter((line) => line.includes('ready for connections')).length;
  expect(served()).toBeGreaterThan(0);
  expect(await readForcedDetachMetric(cluster.controlPlane)).toEqual({
    timeout: 0,
    'out-of-service': 0,
  });

  const machine = cluster.machine(pod.node);
  await expect(cluster.machine(cluster.controlPlane).disconnect()).rejects.toMatchObject({
    code: 'NODE_STATE',
  });
  for (let round = 0; round < 2; round++) {
    await machine.disconnect();
    await machine.disconnect();
    expect(await machine.reachesApi()).toBe(false);
    expect(await machine.reachedFromOutside()).toBe(false);
    expect(await whoAnswers(inside)).toEqual(answer);
    await machine.reconnect();
    await machine.reconnect();
    expect(await machine.reachesApi()).toBe(true);
    expect(await whoAnswers(outside)).toEqual(answer);
  }

  // What waits for the disk can neither be frozen nor killed, until the link passes again.
  await diskTool(cluster.lab, 'sever', { node: pod.node, how: 'stalls' });
  const waiting = create(inside, 'stalled');
  await expect(machine.freeze()).rejects.toMatchObject({ code: 'NODE_WAITS' });
  await diskTool(cluster.lab, 'restore', { node: pod.node });
  await waiting;

  await machine.freeze();
  expect(await machine.state()).toBe('frozen');
  expect(await machine.reachesApi()).toBe(false);
  await machine.thaw();
  await machine.kill();
  await machine.kill();
  expect(await machine.state()).toBe('stopped');
  await machine.start();
  expect(await machine.state()).toBe('running');
  expect(await machine.reachedFromOutside()).toBe(true);
  // Its log is followed beyond the reboot, and nothing is told twice.
  await vi.waitFor(() => expect(served()).toBe(2), { timeout: minutes, interval: 500 });
  const address =
    await shell`docker inspect --format ${'{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}'} ${pod.node}`;
  expect(address.stdout.trim()).toBe(cluster.addresses.get(pod.node));

  await shell`docker exec ${cluster.controlPlane} pkill -KILL --exact kube-controller`;
  await vi.waitFor(() => expect([...restarts]).toEqual([0, 1]), {
    timeout: minutes,
    interval: 500,
  });

  await removeDatabase(clients, { scope });
  await diskTool(cluster.lab, 'remove-volume', { volume });
  const { items } = await clients.storage.listVolumeAttachment();
  expect(items).toEqual([]);
  await logs.disposeAsync();
  await cluster.release();
  expect(await traces()).toEqual([]);
});

test('what is not ours is refused and not touched', { timeout: minutes }, async () => {
  await shell`docker network create fd-ct-foreign`;
  try {
    const before = await shell`docker network inspect fd-ct-foreign`;
    await expect(open('foreign')).rejects.toMatchObject({ code: 'CLUSTER_FOREIGN' });
    const after = await shell`docker network inspect fd-ct-foreign`;
    expect(after.stdout).toBe(before.stdout);
  } finally {
    await shell`docker network rm fd-ct-foreign`;
  }
  expect(await traces()).toEqual([]);
});

test('an interrupted creation leaves nothing', { timeout: 5 * minutes }, async () => {
  const interrupt = new AbortController();
  const reason = new Error('Ctrl-C');
  const opening = open('abort', {
    signal: interrupt.signal,
    onProgress: (line) => {
      if (line.startsWith('kind: starting')) interrupt.abort(reason);
    },
  });
  await expect(opening).rejects.toBe(reason);
  expect(await traces()).toEqual([]);
});

test('what a killed process leaves is reaped', { timeout: 5 * minutes }, async () => {
  const script = `
    import { ensureCluster } from './lib/kind/cluster.ts';
    await ensureCluster({ ...JSON.parse(process.argv[1]), onProgress: (line) => console.log(line) });
  `;
  const options = { name: 'ct-killed', images, kind, runId: 'test-killed', workers: 1 };
  const argv = ['--input-type=module-typescript', '--eval', script, JSON.stringify(options)];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`it ended with ${code}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('kind: starting')) resolve();
    });
  });
  expect((await reap({ only: 'ct-killed' })).left).toHaveLength(1);
  const found = await findCluster('ct-killed');
  if (found !== undefined) leasesSeen.set(found.labels.index, leaseAt(found.labels.index));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  expect(await reap({ only: 'ct-killed' })).toEqual({
    removed: ['ct-killed'],
    left: [],
    resisted: [],
  });
  expect(await traces()).toEqual([]);
});
