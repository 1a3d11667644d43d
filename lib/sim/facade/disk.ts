/** The disk port on the model. */
import { linkStateOf, type LinkState } from '../../scenario/index.ts';
import { EvidenceError } from '../../core/index.ts';
import { type ImageLabel, observed } from '../../history/index.ts';
import type { Disk, Proof } from '../../run/index.ts';
import { labelled, type SimCopy } from '../disk/copy-label.ts';
import type { Path } from '../disk/path.ts';
import type { Volume } from '../disk/volume.ts';
import type { Model } from '../model.ts';
import { cutOf } from '../sightings.ts';
import { measuredTimes } from '../timings.ts';
import { draw } from '../world.ts';
import type { KernelDriver } from './kernel-driver.ts';

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
      for (const path of cut()) world.see?.(cutOf(index, path));
      const paths = volume.pathsOf(node);
      const evidence = `model: ${paths.map(({ device }) => device).join(', ') || 'no path'} cut`;
      return { verified: paths.every((path) => path.cut), evidence };
    });
  // It keeps rows, not blocks: there is no log of writes to export.
  return {
    losePower: (node, canary) =>
      cutting(node, () => {
        model.kubelet(node).mount(index)?.writeFile('unsynced', canary, { synced: false });
        return volume.losePower(node, world.of(index).powerLoss);
      }),
    fence: (node) => cutting(node, () => volume.cut(volume.pathsOf(node))),
    sever: (node, how) => link(node, linkStateOf[how]),
    restore: (node) => link(node, 'pass'),
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
