/** No remedy: what Kubernetes does by itself. */
import type { RemedyOf } from './remedy.ts';

export const none: RemedyOf<'none'> = {
  name: 'none',
  apply: () => Promise.resolve(undefined),
};
