/** Hands the model's sightings to recorders, dated in virtual time. */
import type { Database } from '../../run/index.ts';
import { observed, beatEveryMs, declareObserver, type Recorder } from '../../history/index.ts';
import type { Volume } from '../disk/volume.ts';
import type { Model } from '../model.ts';
import { mountOf, seeWritten, standing, upOf, type Sighting } from '../sightings.ts';
import { msUs, secondUs } from '../timings.ts';
import type { KernelDriver } from './kernel-driver.ts';

/** Devices are read this often, as on kind. */
const sampleUs = secondUs;

/** The model shows all of it, on every node; it has no audit log. */
const modelSees = ({ server }: Database): string[] => [
  ...['api', 'csi', 'mounts', 'devices', 'controller-manager'],
  ...[server, 'self-fence'],
];

/** What one volume's history has of the model: the cluster and that volume, and whose it is now. */
export interface Ear {
  readonly volume: Volume;
  hear: (sighting: Sighting) => void;
}

/** For each recorder the volume of its number. Like the driver's log on kind, calls are there from the beginning. */
export function listen(model: Model, driver: KernelDriver, recorders: readonly Recorder[]): Ear[] {
  const ears = recorders.map((recorder, index): Ear => {
    const volume = model.volumes[index];
    if (volume === undefined) throw new RangeError('the model has a volume for each');
    const record = recorderOf(recorder, driver);
    const hear = (sighting: Sighting): void => {
      if (sighting.source === 'csi') record(sighting);
    };
    return { volume, hear };
  });
  model.world.see = (sighting) => {
    for (const ear of ears) {
      const own = ownOf(ear.volume, sighting);
      if (own !== undefined) ear.hear(own);
    }
  };
  return ears;
}

const recorderOf =
  (recorder: Recorder, driver: KernelDriver) =>
  ({ atUs = driver.kernel.nowUs, volume: _volume, ...sighting }: Sighting): void => {
    const t = atUs / msUs;
    recorder.record({ type: 'observation', t, wall: driver.wallMs(atUs), ...sighting });
  };

/** The lists of a node name all volumes. */
function ownOf({ index, name: own }: Volume, sighting: Sighting): Sighting | undefined {
  const { volume, data } = sighting;
  if (volume !== undefined && volume !== index) return undefined;
  const { volumes } = data;
  if (!Array.isArray(volumes)) return sighting;
  return { ...sighting, data: { ...data, volumes: volumes.filter((name) => name === own) } };
}

export function observeModel(
  { world, kubelets, serverOn }: Model,
  driver: KernelDriver,
  ear: Ear,
  recorder: Recorder,
): AsyncDisposable {
  const { volume } = ear;
  const { index } = volume;
  const record = recorderOf(recorder, driver);
  const see = (sighting: Sighting): void => {
    driver.wake();
    record(sighting);
  };
  const observer = declareObserver(recorder, {
    observer: 'model',
    sees: modelSees(world.database),
  });
  let on = true;
  let samples = 0;
  const sample = (): void => {
    if (!on) return;
    seeWritten(world, volume);
    samples += 1;
    if ((samples * sampleUs) % (beatEveryMs * msUs) === 0) observer.beat();
    world.kernel.schedule(sampleUs, sample);
  };
  ear.hear = see;
  for (const sighting of standing(world, world.api)) {
    const own = ownOf(volume, sighting);
    if (own !== undefined) see(own);
  }
  for (const kubelet of kubelets) {
    const mount = kubelet.mount(index);
    if (mount === undefined) continue;
    see(mountOf(observed.mounted, index, mount.path));
    // Who follows a log from its beginning reads that a server is up, however long ago it started.
    const { name } = kubelet.machine;
    if (serverOn(name, index) !== undefined) see(upOf(world, name, index));
  }
  sample();
  return {
    [Symbol.asyncDispose](): Promise<void> {
      on = false;
      observer.end();
      // What begins later has no end in the history, calls included.
      ear.hear = () => undefined;
      return Promise.resolve();
    },
  };
}
