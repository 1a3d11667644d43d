/** Hands the model's sightings to a recorder, dated in virtual time. */
import { database } from '../../../database/chosen.ts';
import type { Recorder } from '../../../history/port.ts';
import { observed } from '../../../history/observations.ts';
import { beatEveryMs, declareObserver } from '../../../history/observers.ts';
import { showAll } from '../api-sightings.ts';
import { seeWritten } from '../actors/sightings.ts';
import { volumeName } from '../api-objects.ts';
import type { Volume } from '../disk/volume.ts';
import type { Model } from '../model.ts';
import { readySighting } from '../server.ts';
import { msUs, secondUs } from '../timings.ts';
import type { World } from '../world.ts';
import type { Sighting } from '../api-watchers.ts';
import type { KernelDriver } from './kernel-driver.ts';

/** Records a sighting of the model, dated in virtual time. */
export function recordSighting(
  recorder: Recorder,
  driver: KernelDriver,
  { atUs = driver.kernel.nowUs, volume: _volume, ...sighting }: Sighting,
): void {
  const t = atUs / msUs;
  recorder.record({ type: 'observation', t, wall: driver.wallMs(atUs), ...sighting });
}

/** Devices are read this often, as on kind. */
const sampleUs = secondUs;

/** The model tells all of it, on every node; it has no audit log. */
const modelSees = (): string[] => [
  ...['api', 'csi', 'mounts', 'devices', 'controller-manager'],
  ...[database.server, 'self-fence'],
];

/** What one volume's history hears of the model: of the cluster and of that volume. */
export interface Ear {
  readonly volume: Volume;
  hear: (sighting: Sighting) => void;
}

/** Whoever has an ear hears from now on. */
export function listen(world: World, ears: readonly Ear[]): void {
  world.see = (sighting) => {
    for (const ear of ears) {
      const own = ownOf(ear.volume, sighting);
      if (own !== undefined) ear.hear(own);
    }
  };
}

/** The lists of a node name all volumes. */
function ownOf({ index }: Volume, sighting: Sighting): Sighting | undefined {
  const { volume, data } = sighting;
  if (volume !== undefined && volume !== index) return undefined;
  const { volumes } = data;
  if (!Array.isArray(volumes)) return sighting;
  const own = volumes.filter((name) => name === volumeName(index));
  return { ...sighting, data: { ...data, volumes: own } };
}

export function observeModel(
  { world, kubelets, serverOn }: Model,
  driver: KernelDriver,
  ear: Ear,
  recorder: Recorder,
): AsyncDisposable {
  const { kernel, api } = world;
  const { volume } = ear;
  const { index } = volume;
  let on = true;
  const previous = ear.hear;
  const see = (sighting: Sighting): void => {
    driver.wake();
    recordSighting(recorder, driver, sighting);
  };
  const observer = declareObserver(recorder, { observer: 'model', sees: modelSees() });
  let samples = 0;
  const sample = (): void => {
    if (!on) return;
    seeWritten(world, volume);
    samples += 1;
    if ((samples * sampleUs) % (beatEveryMs * msUs) === 0) observer.beat();
    kernel.schedule(sampleUs, sample);
  };
  ear.hear = see;
  showAll(api, (sighting) => {
    const own = ownOf(volume, sighting);
    if (own !== undefined) see(own);
  });
  for (const kubelet of kubelets) {
    const mount = kubelet.mount(index);
    if (mount === undefined) continue;
    const { machine } = kubelet;
    const { device } = mount.path;
    see({ source: 'mounts', name: observed.mounted, node: machine.name, data: { device } });
    // Who follows a log from its beginning reads that a server is up, however long ago it started.
    if (serverOn(machine.name, index) !== undefined) see(readySighting(machine.name, index));
  }
  sample();
  return {
    [Symbol.asyncDispose](): Promise<void> {
      on = false;
      observer.end();
      ear.hear = previous;
      return Promise.resolve();
    },
  };
}
