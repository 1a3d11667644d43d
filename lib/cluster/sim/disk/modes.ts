/**
 * What each mode of disk does when a node is attached, staged or detached. The behaviour is that of
 * lib/csi/modes; docs/reference/drivers.md names the real drivers and their sources.
 */
import { outOfServiceKey } from '../../../remedy-kinds.ts';
import type { DiskMode } from '../../../disk-kinds.ts';
import { seeCut } from '../actors/sightings.ts';
import { notices } from '../notices.ts';
import type { World } from '../world.ts';
import type { Path } from './path.ts';
import type { Volume } from './volume.ts';

export interface ModeRequest {
  readonly world: World;
  readonly volume: Volume;
  /** The node that is attached, staged or detached. */
  readonly node: string;
}

/** Why the disk refuses; undefined where it agrees. */
export type Refusal = string | undefined;
type Step = (request: ModeRequest) => Refusal;

interface Mode {
  readonly attach?: Step;
  readonly stage?: Step;
  readonly detach?: Step;
}

const cut = (world: World, volume: Volume, paths: readonly Path[]): Refusal => {
  for (const path of volume.cut(paths)) {
    seeCut(world, path);
    world.notice(notices.cut, world.api.node(path.node).index, volume.index);
  }
  return undefined;
};

const fence: Step = ({ world, volume, node }) => cut(world, volume, volume.pathsOf(node));

/** A node that is mounted and alive is busy; one whose path was cut is not. */
const busy = (paths: readonly Path[]): Refusal => {
  const path = paths.find(({ mounted, cut }) => mounted && !cut);
  return path === undefined ? undefined : `the volume is in use: ${path.device} on ${path.node}`;
};

export const modes: Readonly<Record<DiskMode, Mode>> = {
  unfenced: {},
  'ack-early': {
    detach: ({ world, volume, node }) => {
      const paths = volume.pathsOf(node);
      world.kernel.schedule(world.settings.cutAfterUs, () => cut(world, volume, paths));
      return undefined;
    },
  },
  'fence-if-out-of-service': {
    detach: (request) => {
      const { taints } = request.world.api.node(request.node);
      return taints.some(({ key }) => key === outOfServiceKey) ? fence(request) : undefined;
    },
  },
  fenced: { detach: fence },
  /** EBS: `busy` until unmounted, and attached to one instance only. */
  'pending-while-busy': {
    attach: ({ world, volume, node }) =>
      world.settings.attachWhileBusy === 'granted' ? undefined : busy(volume.others(node)),
    detach: ({ volume, node }) => busy(volume.pathsOf(node)),
  },
  /** ceph-csi waitForrbdImage: no other watcher, else the staging fails; so it does without an answer. */
  exclusive: {
    stage: ({ world, volume, node }) => {
      if (volume.others(node).length === 0) return undefined;
      if (world.settings.watcherCheck === 'missing') return 'the watchers can not be asked for';
      const [watcher] = volume.watchers(node);
      return watcher === undefined ? undefined : `still being used by ${watcher.node}`;
    },
  },
  /** SCSI-3 PREEMPT AND ABORT, NVMe reservation acquire: the newcomer takes the others' access. */
  reservation: {
    stage: ({ world, volume, node }) => cut(world, volume, volume.others(node)),
  },
  /** Nothing is attached: the kubelet mounts at once. */
  'shared-file': {},
};
