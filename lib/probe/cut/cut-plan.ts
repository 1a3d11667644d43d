/** What a cut is going to do: pure, shown and hashed before anything is made. */
import { planHash, type TrialPlanRequest } from '../trial-plan.ts';
import type { CutWay } from './host.ts';

export const cutRemedies = [
  'force-delete',
  'out-of-service',
  /** Nobody does anything: Kubernetes evicts the pods, which have no grace period, and detaches by force later. */
  'eviction',
] as const;
export type CutRemedy = (typeof cutRemedies)[number];

/** Time from the cut to the detach of an eviction: 50 s, five minutes, and six. */
const evictedMs = 780_000;

/** From the arming to the heal, where nobody says another time. */
export const usualHealMs = (remedy: CutRemedy): number =>
  remedy === 'eviction' ? 900_000 : 600_000;

export interface CutRequest extends Pick<TrialPlanRequest, 'size' | 'image' | 'volumeMode'> {
  readonly classes: readonly string[];
  /** The node that is cut off, and the one that watches and takes over. */
  readonly nodes: readonly [string, string];
  readonly way: CutWay;
  readonly remedy: CutRemedy;
  /** From the arming to the heal. */
  readonly healAfterMs: number;
}

export interface CutPlan extends CutRequest {
  readonly version: 1;
  /** A volume each: its name and its class. */
  readonly volumes: readonly { readonly name: string; readonly storageClass: string }[];
  readonly writeEveryMs: number;
  /** The rehearsal's own heal: the pod that cuts has to start before it, on a busy node, too. */
  readonly rehearsalMs: number;
}

export const cutPlanOf = (request: CutRequest): CutPlan => ({
  ...{ version: 1, ...request, writeEveryMs: 100, rehearsalMs: 30_000 },
  volumes: request.classes.map((storageClass, index) => ({
    name: `cut-${index + 1}`,
    storageClass,
  })),
});

const ways = {
  network:
    'drops all traffic over the devices of its default routes (nftables, a table of its own)',
  kubelet: 'stops its kubelet: its pods go on, and the API gets no news of them',
} as const;

function remedyWords({ remedy, healAfterMs }: CutPlan): string {
  const then = 'once it is not Ready';
  if (remedy === 'force-delete') return `the probe force-deletes its pods ${then}`;
  if (remedy === 'out-of-service') return `the probe taints it out-of-service ${then}`;
  const late = healAfterMs < evictedMs ? '. With stock timers the heal comes earlier' : '';
  return `Kubernetes evicts its pods five minutes after the node is not Ready, and force-detaches six minutes later: twelve minutes in all${late}`;
}

/** For people, one line each. */
export function cutPlanLines(plan: CutPlan): string[] {
  const [a, b] = plan.nodes;
  const minutes = (plan.healAfterMs / 60_000).toFixed(1);
  return [
    `plan ${planHash(plan)}: cut off ${a}, ${plan.classes.length} volumes under the one cut: ${plan.classes.join(', ')}`,
    `  writers on ${a}; all pods and volumes are the probe's own`,
    `  ${a} arms its own heal twice, and rehearses it with a cut of some seconds`,
    `  the cut ${ways[plan.way]}; ${a} heals itself ${minutes} min after the arming`,
    `  ${remedyWords(plan)}`,
    `  the next pods start on ${b} and read what both wrote, until some seconds after the heal`,
  ];
}
