/**
 * The attach/detach controller: one grid of passes for all volumes, of which only those are made that
 * may find work (attach_detach_controller.go, adc/reconciler/reconciler.go). A new leader knows what
 * the API shows: what nodes list is attached for sure, what only a VolumeAttachment shows is uncertain
 * (processVolumeAttachments), and every wait begins anew.
 */
import { observed } from '../../history/index.ts';
import type { ForceReason } from '../../judge/index.ts';
import type { ApiWatcher, AttachmentObject, NodeObject, PodObject } from '../api-objects.ts';
import { notices } from '../notices.ts';
import { kubernetesTimes, measuredTimes, secondUs } from '../timings.ts';
import { onGrid } from '../world.ts';
import { Controller, type ControllerContext } from './controller.ts';
import { VolumeAttaching, type AllVolumes } from './volume-attaching.ts';

export class AttachDetach extends Controller implements ApiWatcher, AllVolumes {
  readonly #passPhaseUs = this.gridPhaseUs(kubernetesTimes.attachDetachPassUs);
  readonly #syncPhaseUs = this.gridPhaseUs(kubernetesTimes.attachDetachSyncUs);
  readonly #starts = this.chance.stream(0);
  readonly #hashes = this.chance.stream(1);
  #start = 0;
  #startDrawnAtUs = -1;
  readonly #volumes: VolumeAttaching[];
  readonly #forced: Record<ForceReason, number> = { timeout: 0, 'out-of-service': 0 };

  /** `volumes`: how many there are. */
  constructor(context: ControllerContext, volumes: number) {
    super(context);
    this.#volumes = Array.from(
      { length: volumes },
      (_, index) => new VolumeAttaching(context, index, this),
    );
    for (const node of this.api.nodes)
      for (const volume of node.attached) this.#volumes[volume]?.found(node, true);
    for (const { volume, node } of this.api.attachments) this.#volumes[volume]?.found(node, false);
    for (const { index } of this.#volumes) this.#nudge(index);
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
    this.#volumes[volume]?.nudge(this.chance.within(measuredTimes.watchDelay));
  }

  nextPassUs(atUs: number): number {
    return onGrid(atUs, this.#passPhaseUs, kubernetesTimes.attachDetachPassUs);
  }

  nextSyncUs(atUs: number): number {
    return onGrid(atUs, this.#syncPhaseUs, kubernetesTimes.attachDetachSyncUs);
  }

  /**
   * The order in which a pass meets the nodes: GetVolumesToAttach ranges over a Go map
   * (adc/cache/desired_state_of_world.go). Up to 8 keys lie as they were inserted and are read in a circle
   * from a random slot; the places of more come from a hash (internal/runtime/maps Iter.Next, go1.26). It is
   * drawn once a pass, and for passes alone whose order counts.
   */
  placeOf({ index }: NodeObject): number {
    if (this.#startDrawnAtUs !== this.nowUs) this.#start = this.#starts.float();
    this.#startDrawnAtUs = this.nowUs;
    if (this.api.nodes.length + controlPlaneNodes > groupSlots)
      return (this.#hashes.at(index) - this.#start + 1) % 1;
    return (index - Math.floor(this.#start * groupSlots) + groupSlots) % groupSlots;
  }

  /** Says it as reconciler.go does, also where nothing was mounted any more: each detach unverified counts. */
  sayForced(reason: ForceReason, { name: node, index }: NodeObject, volume: number): void {
    const { see, settings } = this.world;
    this.#forced[reason] += 1;
    const isTimeout = reason === 'timeout';
    this.world.notice(isTimeout ? notices.forcedByTimeout : notices.forcedByTaint, index, -1);
    if (see === undefined) return;
    const why = isTimeout
      ? 'this volume is not safe to detach, but maxWaitForUnmountDuration expired, force ' +
        `detaching duration="${settings.forceDetachAfterUs / secondUs}s"`
      : 'node has out-of-service taint, force detaching';
    const line = `attacherDetacher.DetachVolume started: ${why} node="${node}" (model)`;
    const source = 'controller-manager';
    see({ source, name: observed.forceDetachLog, node, volume, data: { line } });
    see({ source, name: observed.forceDetachMetric, data: { ...this.#forced } });
  }
}

/** The model has no object for it; the controller's map has. */
const controlPlaneNodes = 1;
/** Keys that a Go map keeps in one group (internal/abi MapGroupSlots, before Go 1.24 bucketCnt). */
const groupSlots = 8;
