/**
 * The attach/detach controller. A pod that exists keeps its volume attached, Terminating or not:
 * eviction alone never starts the six-minute wait. The wait runs from the moment a detach is
 * wanted, and forces it only on a node that is not Ready (adc/reconciler/reconciler.go). A node
 * whose detach failed no longer counts against a second attachment (#120595), and neither does any
 * node where the volume is declared ReadWriteMany (util.IsMultiAttachAllowed).
 */
import { observed } from '../../../history/observations.ts';
import { kubernetesTimes, measuredTimes, secondUs } from '../timings.ts';
import { draw, type World } from '../world.ts';
import { outOfServiceKey } from './pod-gc.ts';

/** A volume without an attach phase is none of its business (CSIDriver attachRequired: false). */
export function startAttachDetach(world: World): void {
  if (world.settings.disk === 'shared-file') return;
  const controller = new AttachDetach(world);
  world.api.watch(() => controller.nudge());
}

type ForceReason = 'timeout' | 'out-of-service';

class AttachDetach {
  readonly #world: World;
  /** Passes run on a grid of 100 ms that begins here. */
  readonly #gridUs: number;
  /** Confirmed attachments by node: since when a detach is wanted. */
  readonly #attached = new Map<string, { detachWantedAtUs: number | undefined }>();
  /** One operation at a time on a volume; on one for many nodes, one a node. */
  readonly #busy = new Set<string>();
  #passDueUs = Number.POSITIVE_INFINITY;
  #multiAttachSaidFor: string | undefined;
  readonly #forced: Record<ForceReason, number> = { timeout: 0, 'out-of-service': 0 };

  constructor(world: World) {
    this.#world = world;
    this.#gridUs = world.chance.int(0, kubernetesTimes.attachDetachPassUs - 1);
  }

  /** Something changed: the next pass may find work. */
  nudge(): void {
    this.#passAfter(draw(this.#world, measuredTimes.watchDelay));
  }

  /** Schedules the first pass on the grid that is at least so far away, unless one comes earlier. */
  #passAfter(delayUs: number): void {
    const { kernel } = this.#world;
    const period = kubernetesTimes.attachDetachPassUs;
    const earliest = kernel.nowUs + delayUs - this.#gridUs;
    const dueUs = Math.ceil(earliest / period) * period + this.#gridUs;
    if (dueUs >= this.#passDueUs) return;
    this.#passDueUs = dueUs;
    kernel.schedule(dueUs - kernel.nowUs, () => {
      if (this.#passDueUs !== dueUs) return;
      this.#passDueUs = Number.POSITIVE_INFINITY;
      this.#pass();
    });
  }

  #pass(): void {
    for (const node of this.#attached.keys()) {
      if (!this.#busy.has(this.#operation(node))) this.#considerDetach(node);
    }
    this.#considerAttach();
  }

  get #forMany(): boolean {
    return this.#world.settings.accessMode === 'ReadWriteMany';
  }

  /** The name under which operations exclude each other (nestedpendingoperations). */
  #operation(node: string): string {
    return this.#forMany ? node : 'volume';
  }

  /** The node that a pod wants the volume on. */
  #wantedOn(): string | undefined {
    const { pod } = this.#world.api;
    return pod?.phase === 'Failed' ? undefined : pod?.node;
  }

  #considerDetach(name: string): void {
    const { kernel, api, settings } = this.#world;
    const entry = this.#attached.get(name);
    if (entry === undefined) return;
    if (this.#wantedOn() === name) {
      entry.detachWantedAtUs = undefined;
      return;
    }
    entry.detachWantedAtUs ??= kernel.nowUs;
    const waitedUs = kernel.nowUs - entry.detachWantedAtUs;
    const expired = settings.forceDetach === 'on' && waitedUs > settings.forceDetachAfterUs;
    const node = api.node(name);
    const isOut = node.taints.some(({ key }) => key === outOfServiceKey);
    const force = node.ready !== 'True' && expired;
    if (node.inUse && !force && !isOut) {
      // Without the forced detach nothing but a change of the API brings it back.
      const leftUs = settings.forceDetachAfterUs - waitedUs;
      if (leftUs >= 0) this.#passAfter(leftUs + 1);
      return;
    }
    if (expired) this.#sayForced('timeout', name);
    else if (isOut) this.#sayForced('out-of-service', name);
    this.#detach(name, expired || isOut);
  }

  /** As reconciler.go does, also where nothing was mounted any more: each detach unverified counts. */
  #sayForced(reason: ForceReason, node: string): void {
    const { see, settings } = this.#world;
    this.#forced[reason] += 1;
    const why =
      reason === 'timeout'
        ? 'this volume is not safe to detach, but maxWaitForUnmountDuration expired, force ' +
          `detaching duration="${settings.forceDetachAfterUs / secondUs}s"`
        : 'node has out-of-service taint, force detaching';
    const line = `attacherDetacher.DetachVolume started: ${why} node="${node}" (model)`;
    const source = 'controller-manager';
    see({ source, name: observed.forceDetachLog, node, data: { line } });
    see({ source, name: observed.forceDetachMetric, data: { ...this.#forced } });
  }

  #detach(name: string, unverified: boolean): void {
    const { kernel, api } = this.#world;
    const node = api.node(name);
    this.#busy.add(this.#operation(name));
    kernel.schedule(draw(this.#world, measuredTimes.apiCall), () => {
      api.setAttached(node, false);
      const attachment = api.attachments.get(name);
      if (node.inUse && !unverified) {
        api.setAttached(node, true);
        this.#done(name);
        return;
      }
      if (attachment !== undefined) api.deleteAttachment(attachment);
      this.#poll(
        name,
        () => api.attachments.get(name)?.detachFailed ?? true,
        () => this.#attached.delete(name),
      );
    });
  }

  #considerAttach(): void {
    const { api } = this.#world;
    const { pod } = api;
    const wanted = this.#wantedOn();
    if (pod === undefined || wanted === undefined || pod.terminating) return;
    if (this.#attached.has(wanted) || this.#busy.has(this.#operation(wanted))) return;
    if (api.attachments.has(wanted)) return;
    if (this.#attached.size > 0 && !this.#forMany) {
      if (this.#multiAttachSaidFor === pod.uid) return;
      this.#multiAttachSaidFor = pod.uid;
      api.event('FailedAttachVolume', 'Multi-Attach error for volume: already used elsewhere');
      return;
    }
    this.#busy.add(this.#operation(wanted));
    api.createAttachment(wanted);
    this.#poll(
      wanted,
      () => api.attachments.get(wanted)?.attached === true,
      () => {
        this.#attached.set(wanted, { detachWantedAtUs: undefined });
        api.setAttached(api.node(wanted), true);
      },
    );
  }

  /** Polls the attachment's status as csi_attacher.go does. */
  #poll(node: string, holds: () => boolean, then: () => void): void {
    const { kernel, chance } = this.#world;
    const { attachmentPollUs, attachmentPollGrowth, attachmentPollJitter } = kubernetesTimes;
    const again = (intervalUs: number): void => {
      const jitter = 1 + chance.float() * attachmentPollJitter;
      kernel.schedule(intervalUs * jitter, () => {
        if (!holds()) {
          again(intervalUs * attachmentPollGrowth);
          return;
        }
        then();
        this.#done(node);
      });
    };
    again(attachmentPollUs);
  }

  #done(node: string): void {
    this.#busy.delete(this.#operation(node));
    this.nudge();
  }
}
