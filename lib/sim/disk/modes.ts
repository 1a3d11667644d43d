/** Carries out on the model what the mode of disk decides (lib/scenario/disks), as lib/storage/csi/backend.ts does on a cluster. */
import { outOfServiceKey } from '../../core/index.ts';
import { observed } from '../../history/index.ts';
import {
  diskModeOf,
  hangsWhenCut,
  type CutTime,
  type DiskModeDeclaration,
  type RefusalReason,
} from '../../scenario/index.ts';
import { hasTaint, notices, countOf } from '../sightings.ts';
import type { World } from '../world.ts';
import type { Path, Volume } from './volume.ts';

interface ModelModeRequest {
  readonly world: World;
  readonly volume: Volume;
  readonly node: string;
}

/** Why the disk refuses; undefined where it agrees. */
export type RefusalMessage = string | undefined;

const modeOf = ({ world, volume }: ModelModeRequest): DiskModeDeclaration =>
  diskModeOf[world.of(volume.index).disk.mode];

/** Before a new attachment is recorded. */
export function decideAttach(request: ModelModeRequest): RefusalMessage {
  const isGranted = request.world.of(request.volume.index).disk.attachWhileBusy === 'granted';
  return isGranted ? undefined : refusalOf(modeOf(request).attach, request);
}

/** Before the node's path is opened. */
export function decideStage(request: ModelModeRequest): RefusalMessage {
  const { stage } = modeOf(request);
  const { world, volume, node } = request;
  const refusal = refusalOf(stage, request);
  if (refusal === undefined && stage?.cutsOthers === true) cut(world, volume, volume.others(node));
  return refusal;
}

/** Before the attachment is gone. */
export function decideDetach(request: ModelModeRequest): RefusalMessage {
  const { detach } = modeOf(request);
  const refusal = refusalOf(detach, request);
  if (refusal === undefined && detach !== undefined) cuts[detach.cuts](request);
  return refusal;
}

const refusalOf = (
  rule: { readonly refusedWhile?: RefusalReason } | undefined,
  request: ModelModeRequest,
): RefusalMessage =>
  rule?.refusedWhile === undefined ? undefined : refusals[rule.refusedWhile](request);

const refusals: Readonly<Record<RefusalReason, (request: ModelModeRequest) => RefusalMessage>> = {
  'node-has-it-mounted': ({ volume, node }) => whileMounted(volume.pathsOf(node)),
  'other-has-it-mounted': ({ volume, node }) => whileMounted(volume.others(node)),
  'other-watches': ({ world, volume, node }) => {
    if (volume.others(node).length === 0) return undefined;
    if (world.of(volume.index).disk.watcherCheck === 'missing')
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
    if (hasTaint(request.world.api.node(request.node), outOfServiceKey))
      cuts['before-answer'](request);
  },
};

function cut(world: World, volume: Volume, paths: readonly Path[]): void {
  for (const path of volume.cut(paths, hangsWhenCut(world.of(volume.index).disk))) {
    world.see?.(countOf(observed.deviceCut, volume.index, path));
    world.notice(notices.cut, world.api.node(path.node).index, volume.index);
  }
}
