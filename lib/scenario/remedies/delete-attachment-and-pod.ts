/**
 * What health monitors of storage vendors do for a node that they take for lost: first its VolumeAttachment, then
 * its pod by force, so that neither the wait for an unmount nor the pod's name holds anything up.
 */
import { remedyKind } from './kind.ts';

export const deleteAttachmentAndPod = remedyKind({
  name: 'delete-attachment-and-pod',
  on: 'attachment',
  acts: ['delete attachments', 'force-delete pod'],
  removesPodObject: true,
  needs: ['attachment-deletion'],
  words: 'the VolumeAttachment is deleted, then the pod by force',
  does: 'the victim’s VolumeAttachment is deleted, then the pod with `--grace-period=0 --force`',
});
