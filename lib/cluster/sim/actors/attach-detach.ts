/**
 * The attach/detach controller: one grid of passes for all volumes, of which only those are made that
 * may find work (attach_detach_controller.go, adc/reconciler/reconciler.go). A new leader knows what
 * the API tells: what nodes list is attached for sure, what only a VolumeAttachment tells is uncertain
 * (processVolumeAttachments), and every wait begins anew.
 */
import { observed } from '../../../history/observations.ts';
import type { AttachmentObject, NodeObject, PodObject } from '../api-objects.ts';
import type { ApiWatcher } from '../api-watchers.ts';
import type { Chance } from '../chance.ts';
import { notices } from '../notices.ts';
import { kubernetesTimes, measuredTimes, secondUs } from '../timings.ts';
import { onGrid, type World } from '../world.ts';
import type { ForceReason } from '../../../timeline/forced-detaches.ts';
import { VolumeAttaching } from './volume-attaching.ts';
import { gridPhaseUs, type LeaderContext } from './controller.ts';

export class AttachDetach implements ApiWatcher {
  readonly #context: LeaderContext;
  readonly #volumes: VolumeAttaching[];
  readonly #forced: Record<ForceReason, number> = { timeout: 0, 'out-of-service': 0 };

  /** `volumes`: how many there are. */
  constructor(context: LeaderContext, volumes: number) {
    this.#context = context;
    const { world, chance } = context;
    const { api } = world;
    const { attachDetachPassUs, attachDetachSyncUs } = kubernetesTimes;
    const passPhaseUs = gridPhaseUs(context, attachDetachPassUs);
    const syncPhaseUs = gridPhaseUs(context, attachDetachSyncUs);
    const placeOf = goMapOrder(world, chance, api.nodes.length + controlPlaneNodes);
    this.#volumes = Array.from(
      { length: volumes },
      (_, index) =>
        new VolumeAttaching({
          ...{ ...context, index, placeOf },
          nextPassUs: (atUs) => onGrid(atUs, passPhaseUs, attachDetachPassUs),
          nextSyncUs: (atUs) => onGrid(atUs, syncPhaseUs, attachDetachSyncUs),
          sayForced: (reason, node, volume) => this.#sayForced(reason, node, volume),
        }),
    );
    for (const node of api.nodes)
      for (const volume of node.attached) this.#volumes[volume]?.found(node, true);
    for (const { volume, node } of api.attachments) this.#volumes[volume]?.found(node, false);
    for (const volume of this.#volumes) volume.nudge(chance.within(measuredTimes.watchDelay));
  }

  pod({ workload }: PodObject): void {
    this.#nudge(workload);
  }

  attachment({ volume }: AttachmentObject): void {
    this.#volumes[volume]?.attachmentChanged();
    this.#nudge(volume);
  }

  node(node: NodeObject): void {
    for (const volume of this.#volumes) {
      if (!volume.concerns(node)) continue;
      volume.nodeChanged(node);
      this.#nudge(volume.index);
    }
  }

  #nudge(volume: number): void {
    this.#volumes[volume]?.nudge(this.#context.chance.within(measuredTimes.watchDelay));
  }

  /** Says it as reconciler.go does, also where nothing was mounted any more: each detach unverified counts. */
  #sayForced(reason: ForceReason, { name: node, index }: NodeObject, volume: number): void {
    const { world } = this.#context;
    this.#forced[reason] += 1;
    const isTimeout = reason === 'timeout';
    world.notice(isTimeout ? notices.forcedByTimeout : notices.forcedByTaint, index, -1);
    if (world.see === undefined) return;
    const why = isTimeout
      ? 'this volume is not safe to detach, but maxWaitForUnmountDuration expired, force ' +
        `detaching duration="${world.settings.forceDetachAfterUs / secondUs}s"`
      : 'node has out-of-service taint, force detaching';
    const line = `attacherDetacher.DetachVolume started: ${why} node="${node}" (model)`;
    const source = 'controller-manager';
    world.see({ source, name: observed.forceDetachLog, node, volume, data: { line } });
    world.see({ source, name: observed.forceDetachMetric, data: { ...this.#forced } });
  }
}

/** The model has no object for it; the controller's map has. */
const controlPlaneNodes = 1;
/** Keys that a Go map keeps in one group (internal/abi MapGroupSlots, before Go 1.24 bucketCnt). */
const groupSlots = 8;

/**
 * The order in which a pass meets the nodes: GetVolumesToAttach ranges over a Go map
 * (adc/cache/desired_state_of_world.go). Up to 8 keys lie as they were inserted and are read in a circle
 * from a random slot; the places of more come from a hash (internal/runtime/maps Iter.Next, go1.26). It is
 * drawn once a pass, and for passes alone whose order counts.
 */
function goMapOrder(
  { kernel }: World,
  chance: Chance,
  nodes: number,
): (node: NodeObject) => number {
  const [starts, hashes] = [chance.stream(0), chance.stream(1)];
  let start = 0;
  let drawnAtUs = -1;
  return ({ index }) => {
    if (drawnAtUs !== kernel.nowUs) start = starts.float();
    drawnAtUs = kernel.nowUs;
    if (nodes > groupSlots) return (hashes.at(index) - start + 1) % 1;
    return (index - Math.floor(start * groupSlots) + groupSlots) % groupSlots;
  };
}
