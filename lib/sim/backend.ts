/** The backend `sim`: testbeds on the model. It needs nothing, takes seconds, and only predicts. */
import type { ImageLabel } from '../history/index.ts';
import type {
  Backend,
  BreakableTestbed,
  ControlPlane,
  OpenedCluster,
  Testbed,
  TestbedOptions,
} from '../run/index.ts';
import { identityOf, type SimCopy } from './disk/volume.ts';
import { simAuditor } from './facade/auditor.ts';
import { simDisk, simNodeKubernetes, simPodKubernetes, simMachine } from './facade/ports.ts';
import { KernelDriver } from './facade/kernel-driver.ts';
import { listen, observeModel, type Ear } from './facade/observe.ts';
import { simConnector, startSimWriters } from './facade/clients.ts';
import { Kernel } from './kernel.ts';
import {
  limits,
  modelVersion,
  neverReady,
  readyWithinMs,
  startModel,
  type Model,
  type ModelSize,
} from './model.ts';
import { timersOf, draw } from './world.ts';
import { measuredTimes } from './timings.ts';

export function simBackend(size: Pick<ModelSize, 'nodes'> = {}): Backend {
  const driver = new KernelDriver(new Kernel());
  return {
    backend: 'sim',
    isModel: true,
    clock: driver.clock,
    open: (volumes) => openSimVolumes(driver, size, volumes),
  };
}

/** The first volume's seed is the model's. */
async function openSimVolumes(
  driver: KernelDriver,
  size: Pick<ModelSize, 'nodes'>,
  options: readonly TestbedOptions[],
): Promise<OpenedCluster<Testbed>> {
  const [first, ...more] = options;
  if (first === undefined) throw new RangeError('a run has at least one volume');
  for (const { recorder, onProgress } of options) {
    const data = { limits: limits(first.database) };
    recorder.record({ type: 'observation', source: 'model', name: 'limits', data });
    onProgress('the model starts; its verdict is a prediction');
  }
  const others = more.map(({ scenario }) => scenario);
  const { scenario, seed, database } = first;
  const model = startModel(driver.kernel, scenario, seed, { ...size, database, others });
  const recorders = options.map(({ recorder }) => recorder);
  const ears = listen(model, driver, recorders);
  // So that one fault meets them all.
  const elsewhere = more.length === 0 ? [] : model.nodes.slice(1);
  for (const node of elsewhere) model.operator.cordon(node);
  const cluster = breakable(model, driver);
  const volumes = await Promise.allSettled(
    ears.map((ear, index) => openVolume(model, driver, cluster, ear, options[index] ?? first)),
  );
  for (const node of elsewhere) model.operator.uncordon(node);
  // Neither is in anybody's way.
  return { cluster, volumes, close: () => Promise.resolve() };
}

const breakable = (model: Model, driver: KernelDriver): BreakableTestbed => ({
  clock: driver.clock,
  nodes: model.nodes,
  kubernetes: simNodeKubernetes(model, driver),
  controlPlane: simControlPlane(model, driver),
  machine: (name) => simMachine(model, driver, name),
});

async function openVolume(
  model: Model,
  driver: KernelDriver,
  cluster: BreakableTestbed,
  ear: Ear,
  options: TestbedOptions,
): Promise<Testbed> {
  const { scenario, seed, folder, database } = options;
  const { volume } = ear;
  const { index } = volume;
  const node = await readyNode(model, driver, index, options);
  const images = new Map<ImageLabel, SimCopy>();
  const connector = simConnector(model, driver, index, node);
  return {
    ...cluster,
    timers: timersOf(scenario),
    versions: { model: modelVersion, kubernetes: scenario.kubernetes.version },
    volume: identityOf(volume),
    kubernetes: { ...cluster.kubernetes, ...simPodKubernetes(model, driver, index) },
    disk: simDisk(model, driver, volume, images),
    auditor: simAuditor(driver, {
      ...{
        database,
        images,
        seed,
        connections: scenario.load.connections,
        settings: scenario.database,
      },
    }),
    observe: (recorder) => Promise.resolve(observeModel(model, driver, ear, recorder)),
    startWriters: (specs) =>
      Promise.resolve(startSimWriters(driver, { specs, folder, seed, connector })),
    removeDatabase: () => Promise.resolve(),
  };
}

async function readyNode(
  model: Model,
  { clock }: KernelDriver,
  volume: number,
  { seed, signal }: Pick<TestbedOptions, 'seed' | 'signal'>,
): Promise<string> {
  const { api } = model.world;
  const deadlineMs = clock.nowMs() + readyWithinMs;
  while (clock.nowMs() < deadlineMs) {
    const pod = api.databasePod(volume);
    if (pod?.ready === true && pod.node !== undefined) return pod.node.name;
    await clock.sleep(100, signal);
  }
  throw neverReady(seed);
}

function simControlPlane({ world, controlPlane }: Model, driver: KernelDriver): ControlPlane {
  const command = <T>(work: () => T): Promise<T> =>
    driver.perform(draw(world, measuredTimes.controlPlaneCommand), work);
  return {
    kill: () => command(() => controlPlane.kill()),
    failOver: () => command(() => controlPlane.failOver()),
    stall: (component) => command(() => controlPlane.stall(component)),
    resume: (component) => command(() => controlPlane.resume(component)),
    look: (component) => command(() => controlPlane.look(component)),
  };
}
