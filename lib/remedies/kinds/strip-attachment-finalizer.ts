/** The VolumeAttachment is deleted by hand, and its finalizer taken away. */
import { remedyKind } from './kind.ts';

export const stripAttachmentFinalizer = remedyKind({
  name: 'strip-attachment-finalizer',
  on: 'attachment',
  needs: ['attachment-deletion'],
  does: 'the same, and its finalizer is taken away: where no attacher runs (`also attacher-down`), the storage is never asked to detach; one that runs acts within a tenth of a second and may be faster',
});
