/**
 * The victim's VolumeAttachment is deleted by hand. The attacher still sends a detach to the storage; the
 * attach/detach controller finds within a minute that the attachment is gone.
 */
import { remedyKind } from './kind.ts';

export const deleteAttachment = remedyKind({
  name: 'delete-attachment',
  on: 'attachment',
  acts: ['delete attachments'],
  needs: ['attachment-deletion'],
  words: 'the VolumeAttachment is deleted by hand',
  does: 'the victim’s VolumeAttachment is deleted by hand',
});
