/** The pod is deleted by force, unconfirmed. */
import { remedyKind } from './kind.ts';

export const forceDelete = remedyKind({
  name: 'force-delete',
  on: 'pod',
  removesPodObject: true,
  does: 'the pod is deleted with grace period 0; the forced detach follows six minutes later',
});
