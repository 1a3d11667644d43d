/** The disk port on the model. */
import { EvidenceError, UsageError } from '../../../errors.ts';
import type { ImageLabel } from '../../../history/events.ts';
import { observed } from '../../../history/observations.ts';
import type { Disk } from '../../port.ts';
import type { Image } from '../disk/volume.ts';
import type { Model } from '../model.ts';
import { measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';
import type { Driver } from './driver.ts';

/** Copies go into `images`, from where the auditor takes them. */
export function simDisk(model: Model, driver: Driver, images: Map<ImageLabel, Image>): Disk {
  const { world, volume } = model;
  return {
    losePower: (node) =>
      driver.perform(draw(world, measuredTimes.cut), () => {
        for (const { device, generation } of volume.cut(node)) {
          const data = { device, generation };
          world.see({ source: 'devices', name: observed.deviceCut, node, data });
        }
        const paths = volume.paths.filter((path) => path.node === node);
        return {
          verified: paths.every(({ cut }) => cut),
          evidence: `model: ${paths.map(({ device }) => device).join(', ') || 'no path'} cut`,
        };
      }),
    sever: () => Promise.reject(unknownToModel('a severed storage link')),
    restore: () => Promise.resolve({ verified: true, evidence: 'model: nothing was severed' }),
    exportWrites: () => Promise.resolve(),
    releaseDead: (node) =>
      driver.perform(draw(world, measuredTimes.machineCommand), () => volume.renew(node)),
    writeCanaries: (node, content) =>
      driver.perform(draw(world, measuredTimes.machineCommand), () => {
        const { mount } = model.kubelet(node);
        if (mount === undefined) {
          throw new EvidenceError('VOLUME_NOT_MOUNTED', `the volume is not mounted on ${node}`);
        }
        mount.writeFile('synced', content, { synced: true });
        mount.writeFile('unsynced', 'before', { synced: true });
        mount.writeFile('unsynced', content, { synced: false });
      }),
    async copy(label, freeze) {
      const machines = freeze.map((node) => model.kubelet(node).machine);
      const running = machines.filter(({ state }) => state === 'running');
      for (const machine of running) machine.freeze();
      const image = await driver.perform(draw(world, measuredTimes.copy), () => volume.copy());
      for (const machine of running) machine.thaw();
      images.set(label, image);
    },
  };
}

/** The model answers for what it knows only. */
function unknownToModel(what: string): UsageError {
  return new UsageError('MODEL_LACKS', `the model knows nothing of ${what}`, {
    hint: 'run this scenario on kind: --cluster kind',
  });
}
