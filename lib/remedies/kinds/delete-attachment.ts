/** The victim’s VolumeAttachment is deleted by hand. */
import { remedyKind } from './kind.ts';

export const deleteAttachment = remedyKind({
  name: 'delete-attachment',
  on: 'attachment',
  needs: ['attachment-deletion'],
  does: 'the victim’s VolumeAttachment is deleted by hand',
});
