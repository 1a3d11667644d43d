/**
 * The CSI attacher with the disk's controller: publishes and unpublishes as attachments come and go.
 * What the disk refuses is tried again, ever more slowly.
 */
import { csiCalls } from '../../../history/observations.ts';
import type { AttachmentObject } from '../api-objects.ts';
import { modes, type Refusal } from '../disk/modes.ts';
import type { Volume } from '../disk/volume.ts';
import { kubernetesTimes, measuredTimes } from '../timings.ts';
import { coalesced, draw, type World } from '../world.ts';
import { seeCall, seeWritten } from './sightings.ts';

export function startAttacher(world: World, volume: Volume): void {
  const { kernel, api, settings } = world;
  const mode = modes[settings.disk];
  /** One call at a time per attachment; while one backs off it counts as under way. */
  const busy = new Set<AttachmentObject>();
  const backOffUs = new Map<AttachmentObject, number>();

  /** `work` gives why the disk refused. */
  const call = (
    attachment: AttachmentObject,
    name: string,
    work: (beganAtUs: number) => Refusal,
  ): void => {
    const beganAtUs = kernel.nowUs;
    busy.add(attachment);
    kernel.schedule(draw(world, measuredTimes.controllerCall), () => {
      const error = work(beganAtUs);
      if (error === undefined) {
        busy.delete(attachment);
        backOffUs.delete(attachment);
        nudge();
        return;
      }
      seeCall(world, name, attachment.node, beganAtUs, { error });
      if (attachment.deleting) api.failDetach(attachment);
      retry(attachment);
    });
  };

  const retry = (attachment: AttachmentObject): void => {
    const { attacherBackOffUs, attacherBackOffMaxUs } = kubernetesTimes;
    const delayUs = backOffUs.get(attachment) ?? attacherBackOffUs;
    backOffUs.set(attachment, Math.min(attacherBackOffMaxUs, delayUs * 2));
    kernel.schedule(delayUs, () => {
      busy.delete(attachment);
      nudge();
    });
  };

  const publish = (attachment: AttachmentObject): void =>
    call(attachment, csiCalls.publish, (beganAtUs) => {
      const { node } = attachment;
      seeWritten(world, volume);
      const refusal = mode.attach?.({ world, volume, node });
      if (refusal !== undefined) return refusal;
      const { generation } = volume.publish(node);
      seeCall(world, csiCalls.publish, node, beganAtUs, { generation });
      api.setAttachmentAttached(attachment);
      return undefined;
    });

  const unpublish = (attachment: AttachmentObject): void =>
    call(attachment, csiCalls.unpublish, (beganAtUs) => {
      const { node } = attachment;
      const refusal = mode.detach?.({ world, volume, node });
      if (refusal !== undefined) return refusal;
      volume.unpublish(node);
      seeCall(world, csiCalls.unpublish, node, beganAtUs);
      api.removeAttachment(attachment);
      return undefined;
    });

  const reconcile = (): void => {
    for (const attachment of api.attachments.values()) {
      if (busy.has(attachment)) continue;
      if (attachment.deleting) unpublish(attachment);
      else if (!attachment.attached) publish(attachment);
    }
  };
  const nudge = coalesced(world, measuredTimes.watchDelay, reconcile);
  api.watch(nudge);
}
