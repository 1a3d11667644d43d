/** The backend `kind`: images, a cluster of our own, and a testbed on it. */
import { ensureImages } from '../../images/ensure.ts';
import type { ImageSource } from '../../images/image-set.ts';
import { ensureKind } from '../../images/kind-binary.ts';
import type { Backend } from '../port.ts';
import { ensureCluster } from './cluster.ts';
import { realClock } from './real-clock.ts';
import { openKindTestbed } from './testbed.ts';

export interface KindBackendOptions {
  /** Default `auto`: published where a registry answers, else built. */
  readonly images?: ImageSource | 'auto';
  /** Default 1.34.4. */
  readonly kubernetesVersion?: string;
  /** Default `main`. */
  readonly clusterName?: string;
  /** Default 2. */
  readonly workers?: number;
  /** Keep the cluster after the run; default false. */
  readonly keep?: boolean;
}

export function kindBackend(options: KindBackendOptions = {}): Backend {
  const originNs = process.hrtime.bigint();
  const clock = realClock(originNs);
  return {
    backend: 'kind',
    clock,
    async open(request) {
      const { scenario, runId, signal, onProgress } = request;
      const images = await ensureImages({
        source: options.images ?? 'auto',
        kubernetesVersion: options.kubernetesVersion ?? '1.34.4',
        onProgress,
      });
      const cluster = await ensureCluster({
        name: options.clusterName ?? 'main',
        images,
        kind: await ensureKind(),
        runId,
        workers: options.workers ?? 2,
        graceMs: scenario.graceMs,
        forceDetachAfterMs: scenario.forceDetachAfterMs,
        keep: options.keep ?? false,
        onProgress,
        signal,
      });
      return openKindTestbed({ ...request, cluster, images, clock, originNs });
    },
  };
}
