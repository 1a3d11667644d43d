/** What Kubernetes does by itself. */
import { remedyKind } from './kind.ts';

export const none = remedyKind({
  name: 'none',
  on: 'nothing',
  acts: [],
  words: 'nothing removes the old pod',
  does: 'nothing',
});
