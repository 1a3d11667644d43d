/** Makes a pod in a namespace that may be a second old: its account comes a moment after it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreV1Api, V1Pod } from '@kubernetes/client-node';

const everyMs = 500;
const tries = 60;

/** Throws as the API does, once half a minute was in vain. */
export async function createPod(
  core: CoreV1Api,
  namespace: string,
  body: V1Pod,
  signal: AbortSignal,
): Promise<void> {
  for (let left = tries; ; left -= 1) {
    try {
      await core.createNamespacedPod({ namespace, body });
      return;
    } catch (error) {
      if (left === 0 || !String(error).includes('serviceaccount')) throw error;
      await sleep(everyMs, undefined, { signal });
    }
  }
}
