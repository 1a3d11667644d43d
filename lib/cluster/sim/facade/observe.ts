/** Hands the model's sightings to a recorder, dated in virtual time. */
import { database } from '../../../database/chosen.ts';
import type { Recorder } from '../../../history/port.ts';
import { observed } from '../../../history/observations.ts';
import { beatEveryMs, declareObserver } from '../../../history/observers.ts';
import { showAll } from '../api-sightings.ts';
import { seeWritten } from '../actors/sightings.ts';
import type { Model } from '../model.ts';
import { readySighting } from '../server.ts';
import { msUs, secondUs } from '../timings.ts';
import type { Sighting } from '../world.ts';
import type { KernelDriver } from './kernel-driver.ts';

/** Records a sighting of the model, dated in virtual time. */
export function recordSighting(
  recorder: Recorder,
  driver: KernelDriver,
  { atUs = driver.kernel.nowUs, ...sighting }: Sighting,
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

export function observeModel(
  { world, volume, kubelets, serverOn }: Model,
  driver: KernelDriver,
  recorder: Recorder,
): AsyncDisposable {
  const { kernel, api } = world;
  let on = true;
  const previous = world.see;
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
  world.see = see;
  showAll(api, see);
  for (const kubelet of kubelets) {
    const mount = kubelet.mount();
    if (mount === undefined) continue;
    const { machine } = kubelet;
    const { device } = mount.path;
    see({ source: 'mounts', name: observed.mounted, node: machine.name, data: { device } });
    // Who follows a log from its beginning reads that a server is up, however long ago it started.
    if (serverOn(machine.name) !== undefined) see(readySighting(machine.name));
  }
  sample();
  return {
    [Symbol.asyncDispose](): Promise<void> {
      on = false;
      observer.end();
      world.see = previous;
      return Promise.resolve();
    },
  };
}
