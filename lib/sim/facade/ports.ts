/** The ports of a cluster on the model: Kubernetes, a machine, the disk. */
import { EvidenceError } from '../../core/index.ts';
import { type PodRef, type ImageLabel, observed } from '../../history/index.ts';
import type {
  ContainerReport,
  NodeKubernetes,
  PodKubernetes,
  Machine,
  Disk,
  Proof,
} from '../../run/index.ts';
import { CallBook, linkStateOf, type LinkState } from '../../scenario/index.ts';
import { labelled, type SimCopy, type Path, type Volume } from '../disk/volume.ts';
import type { KernelDriver } from './kernel-driver.ts';
import type { NodeMachine } from '../machine.ts';
import type { Model } from '../model.ts';
import { type PodObject, countOf } from '../sightings.ts';
import { measuredTimes, msUs } from '../timings.ts';
import { draw } from '../world.ts';

/** While the API server stands still it does not answer. */
const calling =
  ({ world }: Model, driver: KernelDriver) =>
  <T>(work: () => T): Promise<T> =>
    driver.performBy((run) => world.apiServer.after(draw(world, measuredTimes.apiCall), run), work);

export function simPodKubernetes(
  model: Model,
  driver: KernelDriver,
  volume: number,
): PodKubernetes {
  const { operator, api } = model;
  const call = calling(model, driver);
  return {
    databasePod: () => call(() => refOf(api.databasePod(volume))),
    databaseContainer: ({ uid }) => call(() => reportOf(api.podWithUid(uid))),
    forceDelete: ({ uid }) => call(() => operator.forceDelete(uid)),
    deletePod: ({ uid }) => call(() => operator.deletePod(uid)),
    stripPodFinalizers: ({ uid }) => call(() => operator.stripPodFinalizers(uid)),
    restartRollout: () => call(() => operator.restartRollout(volume)),
    deleteAttachments: (name, options) =>
      call(() => operator.deleteAttachments(name, { ...options, volume })),
  };
}

export function simNodeKubernetes(model: Model, driver: KernelDriver): NodeKubernetes {
  const { operator, api } = model;
  const call = calling(model, driver);
  return {
    deleteNode: (name) => call(() => operator.deleteNode(name)),
    hasNode: (name) => call(() => api.node(name).exists),
    async drain(name, timeoutMs) {
      const { clock } = driver;
      const deadlineMs = clock.nowMs() + timeoutMs;
      const leaving = await call(() => {
        operator.cordon(name);
        operator.evict(name);
        return [...api.node(name).pods];
      });
      for (;;) {
        const left = leaving.find((pod) => api.pods.has(pod));
        if (left === undefined) return { drained: true, answer: `${name} drained (model)` };
        if (clock.nowMs() >= deadlineMs) {
          const answer = `error when waiting for pod "${left.name}" terminating: timeout (model)`;
          return { drained: false, answer };
        }
        await clock.sleep(1000);
      }
    },
    uncordon: (name) => call(() => operator.uncordon(name)),
    taint: (name, taint) => call(() => operator.taint(name, taint)),
    untaint: (name, key) => call(() => operator.untaint(name, key)),
    annotateLease: (name, value) => call(() => operator.annotateLease(name, value)),
    leaseAnnotation: (name) => call(() => api.node(name).leaseAnnotation),
    isReady: (name) =>
      call(() => {
        const { exists, ready } = api.node(name);
        return exists && ready === 'True';
      }),
  };
}

/** The model does not tell a container that ended from one that waits. */
function reportOf(pod: PodObject | undefined): ContainerReport | undefined {
  if (pod === undefined || pod.phase === 'Pending') return undefined;
  return { state: pod.containersRun ? 'running' : 'waiting', ready: pod.ready };
}

function refOf(pod: PodObject | undefined): PodRef | undefined {
  if (pod?.node === undefined) return undefined;
  return { name: pod.name, uid: pod.uid, node: pod.node.name };
}

/** Numbers of kubelet processes, which the model does not otherwise need. */
const firstProcess = 1000;
const restarts = new WeakMap<NodeMachine, number>();

export function simMachine(
  { world, volumes, kubelet, machine: machineOf }: Model,
  driver: KernelDriver,
  node: string,
): Machine {
  const machine = machineOf(node);
  const command = <T>(work: (machine: NodeMachine) => T): Promise<T> =>
    driver.perform(draw(world, measuredTimes.machineCommand), () => work(machine));
  return {
    node,
    freeze: () => command(() => machine.freeze()),
    thaw: () => command(() => machine.thaw()),
    kill: () => command(() => machine.kill()),
    async shutDown(withinMs) {
      const { clock } = driver;
      const untilMs = clock.nowMs() + withinMs;
      await command(() => machine.shutDown());
      while (machine.state !== 'stopped' && clock.nowMs() < untilMs) await clock.sleep(500);
    },
    hangInShutdown: () =>
      command(() => {
        machine.stall('runtime');
        return { verified: true, evidence: 'kubelet and containerd ended (model)' };
      }),
    start: () => command(() => machine.start()),
    disconnect: () => command(() => machine.setConnected(false)),
    reconnect: () => command(() => machine.setConnected(true)),
    isolate: () => command(() => machine.setIsolated(true)),
    rejoin: () => command(() => machine.setIsolated(false)),
    stall: (what) => command(() => machine.stall(what)),
    resume: () => command(() => machine.resume()),
    stalled: () => command(() => machine.stalled),
    async restartKubelet() {
      const before = restarts.get(machine) ?? firstProcess;
      await command(() => machine.restartKubelet());
      restarts.set(machine, before + 1);
      return { before: `${before}`, after: `${before + 1}` };
    },
    killServer: () =>
      command(() => {
        const killed = volumes.map(({ index }) => kubelet(node).container(index)?.killServer());
        const verified = killed.includes(true);
        const { server } = world.database;
        return {
          verified,
          evidence: verified ? `${server} ended (model)` : `no ${server} (model)`,
        };
      }),
    throttle: (share) => command(() => machine.throttle(share)),
    unthrottle: () => command(() => machine.unthrottle()),
    throttled: () => command(() => machine.throttled),
    setClockBack: (ms) => command(() => machine.setClockBack(ms * msUs)),
    clockBackMs: () => command(() => machine.clockBackUs / msUs),
    state: () => command(() => machine.state),
    reachesApi: () => command(() => machine.reachesApi && !world.apiServer.still),
    reachedFromOutside: () => command(() => machine.reachable),
  };
}

/** Copies go into `images`, from where the auditor takes them. */
export function simDisk(
  model: Model,
  driver: KernelDriver,
  volume: Volume,
  images: Map<ImageLabel, SimCopy>,
): Disk {
  const { world } = model;
  const { index } = volume;
  let copies = 0;
  const link = (node: string, state: LinkState): Promise<Proof> =>
    driver.perform(draw(world, measuredTimes.cut), () => {
      const paths = volume.pathsOf(node);
      const held = paths.reduce((sum, path) => sum + path.held, 0);
      volume.setLink(node, state);
      const seen = { source: 'devices', name: observed.linkChanged } as const;
      world.see?.({ ...seen, node, volume: index, data: { state } });
      const evidence = `model: link ${state}, ${paths.length} paths, ${held} requests were held`;
      return { verified: true, evidence };
    });
  /** `cut` gives the paths that were not cut before. */
  const cutting = (node: string, cut: () => readonly Path[]): Promise<Proof> =>
    driver.perform(draw(world, measuredTimes.cut), () => {
      for (const path of cut()) world.see?.(countOf(observed.deviceCut, index, path));
      const paths = volume.pathsOf(node);
      const evidence = `model: ${paths.map(({ device }) => device).join(', ') || 'no path'} cut`;
      return { verified: paths.every((path) => path.cut), evidence };
    });
  // It keeps rows, not blocks: there is no log of writes to export.
  return {
    losePower: (node, canary) =>
      cutting(node, () => {
        model.kubelet(node).mount(index)?.writeFile('unsynced', canary, { synced: false });
        return volume.losePower(node, world.of(index).fault.powerLoss);
      }),
    fence: (node) => cutting(node, () => volume.cut(volume.pathsOf(node))),
    sever: (node, how) => link(node, linkStateOf[how]),
    restore: (node) => link(node, 'pass'),
    async answerCalls(calls) {
      volume.calls = new CallBook(calls);
    },
    releaseDead: (node) =>
      driver.perform(draw(world, measuredTimes.machineCommand), () => volume.renew(node)),
    writeSyncedCanary: (node, content) =>
      driver.perform(draw(world, measuredTimes.machineCommand), () => {
        const mount = model.kubelet(node).mount(index);
        if (mount === undefined) {
          throw new EvidenceError('VOLUME_NOT_MOUNTED', `the volume is not mounted on ${node}`);
        }
        mount.writeFile('synced', content, { synced: true });
        mount.writeFile('unsynced', 'before', { synced: true });
      }),
    async copy(label, freeze) {
      const machines = freeze.map((node) => model.machine(node));
      const running = machines.filter(({ state }) => state === 'running');
      for (const machine of running) machine.freeze();
      const image = await driver.perform(draw(world, measuredTimes.copy), () => volume.copy());
      for (const machine of running) machine.thaw();
      const made = labelled(image, volume, (copies += 1));
      images.set(label, { image, made });
      return made;
    },
  };
}
