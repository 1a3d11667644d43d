/** How many nodes were Ready when, and what Kubernetes makes of it (lib/core/kubernetes.ts). */
import { observed } from '../../history/index.ts';
import { taintRate, zoneState, type ZoneState } from '../../core/index.ts';
import type { Story } from './story.ts';

export interface ZoneMoment {
  /** On the run's clock. */
  readonly atMs: number;
  readonly ready: number;
  readonly lost: number;
  readonly state: ZoneState;
  /** Nodes that Kubernetes taints NoExecute, per second, from then on. */
  readonly rate: number;
}

/** Each change from the fault on. All nodes are in one zone here, the control plane among them. */
export function zonesOf({ observations, faultAtMs }: Story): ZoneMoment[] {
  if (faultAtMs === undefined) return [];
  const isReady = new Map<string, boolean>();
  const moments: ZoneMoment[] = [];
  for (const { name, node, t, data } of observations) {
    if (name !== observed.nodeReady || node === undefined) continue;
    const now = data.status === 'True';
    const changed = isReady.get(node) !== now;
    isReady.set(node, now);
    if (!changed || t < faultAtMs) continue;
    const ready = [...isReady.values()].filter(Boolean).length;
    const lost = isReady.size - ready;
    moments.push({
      atMs: t,
      ready,
      lost,
      state: zoneState(ready, lost),
      rate: taintRate(ready, lost),
    });
  }
  return moments;
}
