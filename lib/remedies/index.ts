/** Every remedy by name. */
import type { RemedyKind } from './kinds/index.ts';
import { deleteAttachment, stripAttachmentFinalizer } from './delete-attachment.ts';
import { deleteNode } from './delete-node.ts';
import { plainDelete } from './delete.ts';
import { drain } from './drain.ts';
import { fenceFirst } from './fence-first.ts';
import { forceDelete } from './force-delete.ts';
import { none } from './none.ts';
import { outOfService } from './out-of-service.ts';
import type { RemedyOf } from './remedy.ts';
import { stripPodFinalizer } from './strip-pod-finalizer.ts';

/** Each is given what its kind declares that it needs, and no more. */
export const remedies: { readonly [Name in RemedyKind]: RemedyOf<Name> } = {
  none,
  'force-delete': forceDelete,
  'out-of-service': outOfService,
  'delete-node': deleteNode,
  drain,
  delete: plainDelete,
  'fence-first': fenceFirst,
  'delete-attachment': deleteAttachment,
  'strip-attachment-finalizer': stripAttachmentFinalizer,
  'strip-pod-finalizer': stripPodFinalizer,
};
