/** No remedy: what Kubernetes does by itself. */
import type { Remedy } from './remedy.ts';

export const none: Remedy = {
  name: 'none',
  apply: () => Promise.resolve(undefined),
};
