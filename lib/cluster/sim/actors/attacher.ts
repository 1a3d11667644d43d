/** The CSI attacher with the disk's controller: publishes and unpublishes as attachments come and go. */
import { csiCalls, observed } from '../../../history/observations.ts';
import type { AttachmentObject } from '../api.ts';
import type { Volume } from '../disk/volume.ts';
import { measuredTimes } from '../timings.ts';
import { coalesced, draw, type World } from '../world.ts';
import { seeCall, seeWritten } from './sightings.ts';

export function startAttacher(world: World, volume: Volume): void {
  const { kernel, api, settings } = world;
  /** One call at a time per attachment. */
  const busy = new Set<AttachmentObject>();

  const call = (attachment: AttachmentObject, work: (beganAtUs: number) => void): void => {
    const beganAtUs = kernel.nowUs;
    busy.add(attachment);
    kernel.schedule(draw(world, measuredTimes.controllerCall), () => {
      busy.delete(attachment);
      work(beganAtUs);
    });
  };

  const publish = (attachment: AttachmentObject): void =>
    call(attachment, (beganAtUs) => {
      seeWritten(world, volume);
      const { generation } = volume.publish(attachment.node);
      seeCall(world, csiCalls.publish, attachment.node, beganAtUs, { generation });
      api.setAttachmentAttached(attachment);
    });

  const unpublish = (attachment: AttachmentObject): void =>
    call(attachment, (beganAtUs) => {
      for (const { node, device, generation } of volume.unpublish(
        attachment.node,
        settings.fenced,
      )) {
        const data = { device, generation };
        world.see({ source: 'devices', name: observed.deviceCut, node, data });
      }
      seeCall(world, csiCalls.unpublish, attachment.node, beganAtUs);
      api.removeAttachment(attachment);
    });

  const reconcile = (): void => {
    for (const attachment of api.attachments.values()) {
      if (busy.has(attachment)) continue;
      if (attachment.deleting) unpublish(attachment);
      else if (!attachment.attached) publish(attachment);
    }
  };
  api.watch(coalesced(world, measuredTimes.watchDelay, reconcile));
}
