/** The model: every actor on one kernel, synchronous and free of promises, so that a sweep can drive it directly. The facade puts the port's promises on top of the same objects. */
import { capabilitiesBut, InfrastructureError } from '../core/index.ts';
import type { Database } from '../run/index.ts';
import type { Scenario } from '../scenario/index.ts';
import { Kubelet } from './actors/kubelet.ts';
import type { Api } from './api.ts';
import { ModelControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { Volume } from './disk/volume.ts';
import { Chance, type Kernel } from './kernel.ts';
import { NodeMachine } from './machine.ts';
import type { ModelServer } from './server.ts';
import {
  cordonTaint,
  type NodeObject,
  type PodObject,
  type Taint,
  volumeName,
} from './sightings.ts';
import { measuredTimes, secondUs } from './timings.ts';
import { World } from './world.ts';

/** Volumes are there from the start, and gates are played where the model knows them (lib/core/kubernetes.ts). */
export const simCapabilities = capabilitiesBut([
  'node-shell',
  'replication-group',
  'write-log',
  'storage-network',
  'provisioner',
  'any-gate',
  'admission-policy',
]);

export const modelVersion = '0.13';

/** Whose times were measured, and whose damage. */
const measuredOn = { name: 'mysql', title: 'MySQL' } as const;

export const limits = ({ name, title, tools }: Database): readonly string[] => [
  'It has never been checked against real runs in bulk: single measured runs set its constants.',
  'It keeps the volume as a list of ledger rows, not pages: which rows survive two writers is decided row by row, the later write standing. A real volume may break in other ways, or more.',
  'Whether a server can start beside one that writes is drawn, 15 in 41, and not derived from the pages that were written: above 500 commits during one recovery it never starts, where that really begins is not known.',
  'How long two servers write jointly before a tree breaks is drawn, 4 to 22 s, and so is whether a replaced server’s shutdown breaks one: both from about 30 measured runs (docs/internals/model.md).',
  `File system metadata, fsck findings, ${tools.offline} and ${tools.checkTable} follow from that line; they are not modelled. XFS is taken for ext4.`,
  'A disk with honest flushes has lost nothing when power goes: between two flushes the model has no writes under way. A disk that ignores them loses all since it was attached, or is unreadable where a part was kept; single torn pages and the doublewrite buffer that mends them do not occur.',
  'After one I/O error a file system takes no more writes until it is mounted anew; an idle database does no I/O, and notices nothing.',
  'What a stalled path holds is replayed in order, at one moment; as many sessions hang in it as clients open, without the server’s limit of connections.',
  'Two servers on one shared directory with local locks both go on; measured, one of the two died each time.',
  'A disk that refuses asks nobody for help: no operator unmounts, stops a machine or breaks a lock.',
  'Watches take 1 to 20 ms, API calls 2 to 10 ms, however much there is to do.',
  'A node without CPU time does all it does more slowly by one factor, and its heartbeats come through by chance: how often is an assumption.',
  'A kubelet that stands still or is restarted goes on with what it had begun; of a restart it models what is forgotten about volumes, not the order of its scan.',
  'A node monitor that takes its cache of Leases for stale passes over one node; a real one may pass over all of them, until the cache has caught up.',
  'A kubelet whose Node was deleted learns of its pods as any other; in both measured runs it did nothing until it was restarted.',
  'An API server that goes on is heard by each client within 7 s: an assumption.',
  'A partition cuts the whole node off at once, or from the control plane alone; its storage goes with it or not at all.',
  'Packets in flight at a partition are lost; real ones may be sent again when it heals.',
  'Each database is one replica with one volume: no other load, and a scheduler that draws its node.',
  'Latencies are drawn uniformly and independently from ranges, some of which are assumptions.',
  ...(name === measuredOn.name
    ? []
    : [
        `${title} is played as ${measuredOn.title}: how long it starts, recovers and stops, and when two of them break a volume, was measured on that one alone.`,
      ]),
];

class Operator {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** No error when that pod is gone already. */
  forceDelete(uid: string): void {
    this.#onPod(uid, (pod) => this.#world.api.deletePod(pod, 0));
  }

  /** The object stays until its kubelet confirms. No error when it is gone already. */
  deletePod(uid: string): void {
    this.#onPod(uid, (pod) => this.#delete(pod));
  }

  /** No error when that pod is gone already. */
  stripPodFinalizers(uid: string): void {
    this.#onPod(uid, (pod) => this.#world.api.stripFinalizer(pod));
  }

  restartRollout(workload: number): void {
    this.#world.api.restartRollout(workload);
  }

  /** Idempotent. */
  deleteNode(name: string): void {
    this.#onNode(name, (node) => this.#world.api.deleteNode(node));
  }

  cordon(name: string): void {
    this.taint(name, cordonTaint);
  }

  uncordon(name: string): void {
    this.untaint(name, cordonTaint.key);
  }

  evict(name: string): void {
    this.#onNode(name, (node) => {
      for (const pod of node.pods) this.#delete(pod);
    });
  }

  /** Idempotent. */
  taint(name: string, { key, effect }: Taint): void {
    this.#onNode(name, (node) => {
      const others = node.taints.filter((each) => each.key !== key || each.effect !== effect);
      this.#world.api.setTaints(node, [...others, { key, effect }]);
    });
  }

  /** All taints with this key; idempotent. */
  untaint(name: string, key: string): void {
    this.#onNode(name, (node) => {
      const others = node.taints.filter((each) => each.key !== key);
      this.#world.api.setTaints(node, others);
    });
  }

  /** Writes to the node's Lease, renewing nothing; undefined takes what was written away. */
  annotateLease(name: string, value: string | undefined): void {
    this.#onNode(name, (node) => this.#world.api.annotateLease(node, value));
  }

  /**
   * The node's VolumeAttachments. Their finalizers take a second request: an attacher that runs may
   * have asked the storage by then. `volume`: only its. Their names.
   */
  deleteAttachments(
    name: string,
    options: { readonly stripFinalizers: boolean; readonly volume?: number },
  ): string[] {
    const { volume } = options;
    const { api, apiServer, chance } = this.#world;
    const found = api.attachments.filter(
      (each) => each.node.name === name && (volume === undefined || each.volume === volume),
    );
    this.#now(() => {
      for (const attachment of found) {
        api.deleteAttachment(attachment);
        if (!options.stripFinalizers) continue;
        const remove = (): void => api.removeAttachment(attachment);
        apiServer.after(chance.within(measuredTimes.apiCall), remove);
      }
    });
    return found.map((attachment) => attachment.name);
  }

  #delete(pod: PodObject): void {
    const { terminationGraceUs } = this.#world.of(pod.workload);
    this.#world.api.deletePod(pod, terminationGraceUs / secondUs);
  }

  #onPod(uid: string, work: (pod: PodObject) => void): void {
    this.#now(() => {
      const pod = this.#world.api.podWithUid(uid);
      if (pod !== undefined) work(pod);
    });
  }

  #onNode(name: string, work: (node: NodeObject) => void): void {
    const node = this.#world.api.node(name);
    this.#now(() => work(node));
  }

  #now(work: () => void): void {
    const { apiServer } = this.#world;
    if (apiServer.still) apiServer.after(0, work);
    else work();
  }
}

export interface ModelSize {
  /** Nodes that can be scheduled to; the control plane has one of its own. Default 3. */
  readonly nodes?: number;
  /** Scenarios of the volumes after the first. Default: as the first. */
  readonly others?: readonly Scenario[];
  /** Volumes, each with a database of its own. Default: one for each scenario. */
  readonly volumes?: number;
}

interface ModelOptions extends ModelSize {
  readonly database: Database;
}

export interface Model extends ControlPlaneOptions {
  readonly kernel: Kernel;
  readonly api: Api;
  readonly controlPlane: ModelControlPlane;
  readonly operator: Operator;
  /** Names; a node's place here is its number in notices. */
  readonly nodes: readonly string[];
  readonly volume: Volume;
  /** Throws on a name that no node has. */
  readonly kubelet: (node: string) => Kubelet;
  readonly machine: (node: string) => NodeMachine;
  /** The server that clients can connect to on this node. */
  readonly serverOn: (node: string, workload?: number) => ModelServer | undefined;
}

/** Virtual time within which the model's databases must be Ready. */
export const readyWithinMs = 120_000;

export const neverReady = (seed: string): InfrastructureError =>
  new InfrastructureError('MODEL_NOT_READY', 'the model never started its database', {
    hint: `this is a bug in the model; please report it with the seed ${seed}`,
  });

/** Kubelets' streams of chance begin here, and volumes'. */
const kubeletStreams = 100;
const volumeStreams = 100_000;

export function startModel(
  kernel: Kernel,
  scenario: Scenario,
  seed: string,
  {
    database,
    nodes: nodeCount = 3,
    others = [],
    volumes: volumeCount = 1 + others.length,
  }: ModelOptions,
): Model {
  const world = new World(kernel, Chance.of(seed), database, scenario, others);
  const { api, chance } = world;
  const volumes = Array.from({ length: volumeCount }, (_, index) => {
    const { disk, attachable } = world.of(index);
    return new Volume({
      ...{ clock: kernel, index, name: volumeName(database.name, index) },
      ...{ chance: chance.stream(volumeStreams + index) },
      ignoresFlushes: disk.flushes === 'ignored',
      ...(attachable ? {} : { files: disk.fileLocks }),
    });
  });
  const [volume] = volumes;
  if (volume === undefined) throw new RangeError('a model has at least one volume');
  for (let n = 0; n < nodeCount; n++) api.addNode(`sim-worker${n === 0 ? '' : n + 1}`);
  const kubelets = api.nodes.map((node) => {
    const machine = new NodeMachine(kernel, node.name);
    world.machines.push(machine);
    const own = chance.stream(kubeletStreams + node.index);
    return new Kubelet({ world, machine, node, chance: own, volumes });
  });
  const controlPlane = new ModelControlPlane({ world, volumes, kubelets });
  const kubelet = (name: string): Kubelet => {
    const found = kubelets[api.node(name).index];
    if (found === undefined) throw new RangeError(`the model has no node ${name}`);
    return found;
  };
  return {
    ...{ kernel, world, api, controlPlane, volumes, volume, kubelets, kubelet },
    nodes: api.nodes.map(({ name }) => name),
    operator: new Operator(world),
    machine: (node) => kubelet(node).machine,
    serverOn: (node, workload = 0) => kubelet(node).container(workload)?.server,
  };
}
