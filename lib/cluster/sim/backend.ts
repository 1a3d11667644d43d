/** The backend `sim`: a testbed on the model. It needs nothing, takes seconds, and only predicts. */
import { InfrastructureError } from '../../errors.ts';
import type { ImageLabel } from '../../storage/identity.ts';
import type { Backend, ControlPlane, Testbed, TestbedOptions } from '../port.ts';
import { identityOf, type SimCopy } from './disk/copy-label.ts';
import { simAuditor } from './facade/auditor.ts';
import { simDisk } from './facade/disk.ts';
import { KernelDriver } from './facade/kernel-driver.ts';
import { simKubernetes } from './facade/kubernetes.ts';
import { simMachine } from './facade/machine.ts';
import { observeModel, recordSighting } from './facade/observe.ts';
import { SimConnector } from './facade/sql.ts';
import { startSimWriters } from './facade/writers.ts';
import { Kernel } from './kernel.ts';
import { limits, modelVersion } from './limits.ts';
import { type Model, type ModelOptions, startModel } from './model.ts';
import { timersOf } from './settings.ts';
import { measuredTimes } from './timings.ts';
import { draw } from './world.ts';

export function simBackend(size: Pick<ModelOptions, 'nodes'> = {}): Backend {
  const driver = new KernelDriver(new Kernel());
  return {
    backend: 'sim',
    clock: driver.clock,
    open: (options) => openSimTestbed(driver, size, options),
  };
}

/** Virtual time within which the model's database must be Ready. */
const readyWithinMs = 120_000;

async function openSimTestbed(
  driver: KernelDriver,
  size: ModelOptions,
  options: TestbedOptions,
): Promise<Testbed> {
  const { scenario, seed, folder, recorder, signal, onProgress } = options;
  const { clock } = driver;
  recorder.record({
    type: 'observation',
    source: 'model',
    name: 'limits',
    data: { limits: limits() },
  });
  onProgress('the model starts; its verdict is a prediction');
  const model = startModel(driver.kernel, scenario, seed, size);
  // Like the driver's log on kind, the calls are there from the beginning.
  model.world.see = (sighting) => {
    if (sighting.source === 'csi') recordSighting(recorder, driver, sighting);
  };
  const node = await readyNode(model, driver, signal);
  const images = new Map<ImageLabel, SimCopy>();
  const connector = new SimConnector(model, driver, node);
  return {
    backend: 'sim',
    clock,
    timers: timersOf(scenario),
    versions: { model: modelVersion, kubernetes: scenario.kubernetes },
    nodes: model.nodes,
    volume: identityOf(model.volume),
    kubernetes: simKubernetes(model, driver),
    controlPlane: simControlPlane(model, driver),
    disk: simDisk(model, driver, images),
    auditor: simAuditor(driver, { images, seed, connections: scenario.connections }),
    machine: (name) => simMachine(model, driver, name),
    observe: (recorder) => Promise.resolve(observeModel(model, driver, recorder)),
    startWriters: (specs) =>
      Promise.resolve(startSimWriters(driver, { specs, folder, seed, connector })),
    // Neither is in anybody's way.
    removeDatabase: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** Resolves to the node where the database became Ready. */
async function readyNode(
  model: Model,
  { clock }: KernelDriver,
  signal: AbortSignal,
): Promise<string> {
  const { api } = model.world;
  const deadlineMs = clock.nowMs() + readyWithinMs;
  while (clock.nowMs() < deadlineMs) {
    const pod = api.databasePod();
    if (pod?.ready === true && pod.node !== undefined) return pod.node.name;
    await clock.sleep(100, signal);
  }
  throw new InfrastructureError('MODEL_NOT_READY', 'the model never started its database', {
    hint: 'this is a fault in the model; please report it with the seed',
  });
}

function simControlPlane({ world, controlPlane }: Model, driver: KernelDriver): ControlPlane {
  const command = <T>(work: () => T): Promise<T> =>
    driver.perform(draw(world, measuredTimes.controlPlaneCommand), work);
  return {
    kill: (component) => command(() => controlPlane.kill(component)),
    stall: (component) => command(() => controlPlane.stall(component)),
    resume: (component) => command(() => controlPlane.resume(component)),
    look: (component) => command(() => controlPlane.look(component)),
  };
}
