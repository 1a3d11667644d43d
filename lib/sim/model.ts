/**
 * The model: every actor on one kernel, synchronous and free of promises, so that a sweep can drive
 * it directly. The façade puts the port's promises on top of the same objects.
 */
import type { Database } from '../run/index.ts';
import { InfrastructureError } from '../core/index.ts';
import type { Scenario } from '../scenario/index.ts';
import { Kubelet } from './actors/kubelet.ts';
import { volumeName } from './api-objects.ts';
import type { Api } from './api.ts';
import { Chance } from './chance.ts';
import { ModelControlPlane, type ControlPlaneOptions } from './control-plane.ts';
import { Volume } from './disk/volume.ts';
import type { Kernel } from './kernel.ts';
import { NodeMachine } from './machine.ts';
import type { ModelServer } from './server.ts';
import { Operator } from './operator.ts';
import { World } from './world.ts';

export interface ModelSize {
  /** Nodes that can be scheduled to; the control plane has one of its own. Default 3. */
  readonly nodes?: number;
  /** Scenarios of the volumes after the first. Default: as the first. */
  readonly others?: readonly Scenario[];
  /** Volumes, each with a database of its own. Default: one for each scenario. */
  readonly volumes?: number;
}

export interface ModelOptions extends ModelSize {
  readonly database: Database;
}

export interface Model extends ControlPlaneOptions {
  readonly kernel: Kernel;
  readonly api: Api;
  readonly controlPlane: ModelControlPlane;
  readonly operator: Operator;
  /** Names; a node's place here is its number in notices. */
  readonly nodes: readonly string[];
  /** The first one. */
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
    const { flushes, attachable, fileLocks } = world.of(index);
    return new Volume({
      ...{ clock: kernel, index, name: volumeName(database.name, index) },
      ...{ chance: chance.stream(volumeStreams + index) },
      ignoresFlushes: flushes === 'ignored',
      ...(attachable ? {} : { files: fileLocks }),
    });
  });
  const [volume] = volumes;
  if (volume === undefined) throw new RangeError('a model has at least one volume');
  for (let n = 0; n < nodeCount; n++) api.addNode(`sim-worker${n === 0 ? '' : n + 1}`);
  const kubelets = api.nodes.map((node) => {
    const machine = new NodeMachine(kernel, node.name);
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
