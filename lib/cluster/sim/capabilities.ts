/** What the model has beyond what every backend has, known before one is opened. */
import type { Capability } from '../port.ts';

/** Its volume is there from the start, and it plays the gates that it knows (lib/kubernetes-versions.ts). */
export const simCapabilities: readonly Capability[] = ['force-detach-wait'];
