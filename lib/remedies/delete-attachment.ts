/**
 * The victim's VolumeAttachment deleted by hand. The attacher still asks the storage to detach; the
 * attach/detach controller asks nobody, and finds within a minute that it is gone. With its finalizer
 * stripped before the attacher has seen the deletion, nobody asks the storage either.
 */
import type { RemedyOf } from './remedy.ts';

const attachmentRemedy = (
  name: string,
  stripFinalizers: boolean,
): RemedyOf<'delete-attachment' | 'strip-attachment-finalizer'> => ({
  name,
  async apply({ victim, volumes }) {
    const names: string[] = [];
    for (const { pods } of volumes) {
      names.push(...(await pods.deleteAttachments(victim.node, { stripFinalizers })));
    }
    return names.length === 0 ? `${victim.node} had no VolumeAttachment` : names.join(', ');
  },
});

export const deleteAttachment = attachmentRemedy('delete-attachment', false);
export const stripAttachmentFinalizer = attachmentRemedy('strip-attachment-finalizer', true);
