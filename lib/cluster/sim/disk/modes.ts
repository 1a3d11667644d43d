/** Carries out on the model what the mode of disk decides (lib/disk-modes), as lib/csi/modes.ts does on a cluster. */
import { outOfServiceKey } from '../../../taints.ts';
import { diskModeOf } from '../../../disk-modes/index.ts';
import type { CutTime, RefusalReason } from '../../../disk-modes/mode.ts';
import { seeCut } from '../actors/sightings.ts';
import { notices } from '../notices.ts';
import type { World } from '../world.ts';
import type { Path } from './path.ts';
import type { Volume } from './volume.ts';

export interface ModelModeRequest {
  readonly world: World;
  readonly volume: Volume;
  /** The node that is attached, staged or detached. */
  readonly node: string;
}

/** Why the disk refuses; undefined where it agrees. */
export type RefusalMessage = string | undefined;

/** Before a new attachment is recorded. */
export function decideAttach(request: ModelModeRequest): RefusalMessage {
  const { disk, attachWhileBusy } = request.world.of(request.volume.index);
  const { attach } = diskModeOf[disk];
  if (attach === undefined || attachWhileBusy === 'granted') return undefined;
  return refusals[attach.refusedWhile](request);
}

/** Before the node's path is opened. */
export function decideStage(request: ModelModeRequest): RefusalMessage {
  const { world, volume, node } = request;
  const { stage } = diskModeOf[world.of(volume.index).disk];
  if (stage === undefined) return undefined;
  const refusal = stage.refusedWhile && refusals[stage.refusedWhile](request);
  if (refusal === undefined && stage.cutsOthers) cut(world, volume, volume.others(node));
  return refusal;
}

/** Before the attachment is gone. */
export function decideDetach(request: ModelModeRequest): RefusalMessage {
  const { detach } = diskModeOf[request.world.of(request.volume.index).disk];
  if (detach === undefined) return undefined;
  const refusal = detach.refusedWhile && refusals[detach.refusedWhile](request);
  if (refusal === undefined) cuts[detach.cuts](request);
  return refusal;
}

const refusals: Readonly<Record<RefusalReason, (request: ModelModeRequest) => RefusalMessage>> = {
  'node-has-it-mounted': ({ volume, node }) => whileMounted(volume.pathsOf(node)),
  'other-has-it-mounted': ({ volume, node }) => whileMounted(volume.others(node)),
  'other-watches': ({ world, volume, node }) => {
    if (volume.others(node).length === 0) return undefined;
    if (world.of(volume.index).watcherCheck === 'missing')
      return 'the watchers can not be asked for';
    const [watcher] = volume.watchers(node);
    return watcher === undefined ? undefined : `still being used by ${watcher.node}`;
  },
};

/** A node that is mounted and alive is busy; one whose path was cut is not. */
function whileMounted(paths: readonly Path[]): RefusalMessage {
  const path = paths.find(({ mounted, cut }) => mounted && !cut);
  return path === undefined ? undefined : `the volume is in use: ${path.device} on ${path.node}`;
}

const cuts: Readonly<Record<CutTime, (request: ModelModeRequest) => void>> = {
  'before-answer': ({ world, volume, node }) => cut(world, volume, volume.pathsOf(node)),
  'after-answer': ({ world, volume, node }) => {
    const paths = volume.pathsOf(node);
    world.kernel.schedule(world.of(volume.index).cutAfterUs, () => cut(world, volume, paths));
  },
  'where-out-of-service': (request) => {
    const { taints } = request.world.api.node(request.node);
    if (taints.some(({ key }) => key === outOfServiceKey)) cuts['before-answer'](request);
  },
};

function cut(world: World, volume: Volume, paths: readonly Path[]): void {
  for (const path of volume.cut(paths)) {
    seeCut(world, volume.index, path);
    world.notice(notices.cut, world.api.node(path.node).index, volume.index);
  }
}
