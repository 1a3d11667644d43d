/** As delete-attachment, with the finalizer stripped: an attacher that was not fast enough sends no detach. */
import { remedyKind } from './kind.ts';

export const stripAttachmentFinalizer = remedyKind({
  name: 'strip-attachment-finalizer',
  on: 'attachment',
  acts: ['strip attachments'],
  needs: ['attachment-deletion'],
  words: 'the VolumeAttachment is deleted and its finalizer removed by hand',
  does: 'the same, and its finalizer is removed: where no attacher runs (`also attacher-down`), the storage gets no detach; one that runs acts within a tenth of a second and may be faster',
});
