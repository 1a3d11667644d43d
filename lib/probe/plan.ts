/**
 * What trials or a cut are going to do: pure, so that it can be shown, hashed and tested before anything is
 * made. The hash is fixed before the first trial and stands in the certificate.
 */
import type { Immutable } from '../core/index.ts';
import { createHash } from 'node:crypto';

export const detachVariants = [
  /** The pod stays, its attachment is deleted while it writes. */
  'kept',
  /** The same while it holds the volume and writes nothing; then it writes again. */
  'idle',
  /** The same while a pod on another node waits for the volume: either node may have it next. */
  'contested',
] as const;
export type DetachVariant = (typeof detachVariants)[number];

export const variants = [
  ...detachVariants,
  /** The pod is deleted by force, and its attachment is left to Kubernetes; then a pod starts on the other node. */
  'force-deleted',
] as const;
export type Variant = (typeof variants)[number];

/** Whether a claim of this name may be a probe's: of a trial, of a cut, or the one that asks for a raw volume. */
export const isTrialName = (name = ''): boolean =>
  name === 'block' || new RegExp(`^(${[...variants, 'cut'].join('|')})-\\d+$`).test(name);

export const volumeModes = ['Block', 'Filesystem'] as const;
export type VolumeMode = (typeof volumeModes)[number];

export interface ProbeTrial {
  /** Names its claim; its pods add `-a` and `-b`. */
  readonly name: string;
  readonly variant: Variant;
}

export interface TrialPlanRequest {
  readonly storageClass: string;
  readonly nodes: readonly [string, string];
  /** Trials of each variant; idle has one for five of them. */
  readonly trials: number;
  readonly volumeMode: VolumeMode;
  readonly size: string;
  /** How long a writer is watched after the delete. */
  readonly horizonMs: number;
  /** Image of the pods: any with Node 20 or later. */
  readonly image: string;
}

export type TrialPlan = Immutable<ReturnType<typeof trialPlanOf>>;

/** Share of the watch: what comes after it shows whether the quiet one was cut off. */
const quietShare = 0.4;
const besideShare = 0.3;

export function trialPlanOf(request: TrialPlanRequest) {
  const { storageClass, nodes, trials, volumeMode, size, horizonMs, image } = request;
  const list = variants.flatMap((variant) =>
    Array.from({ length: variant === 'idle' ? Math.ceil(trials / 5) : trials }, (_, index) => ({
      name: `${variant}-${index + 1}`,
      variant,
    })),
  );
  return {
    ...{ version: 3 as const, storageClass, nodes, trials, volumeMode, size, horizonMs, image },
    ...{ list: list as readonly ProbeTrial[], writeEveryMs: 50 },
    /** An idle pod writes this long before it is quiet, and is quiet for so long. */
    quietAfterMs: 4000,
    quietForMs: Math.round(horizonMs * quietShare),
    /** So long a next pod reads and writes after a pod that was deleted by force. */
    besideForMs: Math.round(horizonMs * besideShare),
  };
}

export const planHash = (plan: object): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex').slice(0, 16);

export function planLines(plan: TrialPlan): string[] {
  const [a, b] = plan.nodes;
  const count = (variant: Variant): number =>
    plan.list.filter((trial) => trial.variant === variant).length;
  const forced = count('force-deleted');
  return [
    `plan ${planHash(plan)}: ${plan.list.length} volumes of the class ${plan.storageClass}, ` +
      `${plan.size} each, as ${plan.volumeMode}, side by side`,
    `  writers on ${a}, one write (O_DIRECT, O_DSYNC) each ${plan.writeEveryMs} ms; next pods on ${b}`,
    `  kept (${count('kept')}): the probe deletes the attachment while the pod writes`,
    `  idle (${count('idle')}): the same, while the pod holds the volume and does not write`,
    `  contested (${count('contested')}): the same, while a pod on ${b} waits for the volume`,
    // Older plans have none.
    ...(forced === 0
      ? []
      : [
          `  force-deleted (${forced}): the probe deletes the pod with a grace period of 0; a pod on ${b} then reads and writes for ${plan.besideForMs / 1000} s`,
        ]),
    `  the probe watches for ${plan.horizonMs / 1000} s, then removes all of it`,
  ];
}

/** `network`: all that goes over the devices of the default routes; `kubelet`: it is stopped. */
export const cutWays = ['network', 'kubelet'] as const;
export type CutWay = (typeof cutWays)[number];

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
  readonly healAfterMs: number;
}

export interface CutPlan extends CutRequest {
  readonly version: 1;
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

const ways: Readonly<Record<CutWay, string>> = {
  network:
    'drops all traffic over the devices of its default routes (nftables, a table of its own)',
  kubelet: 'stops its kubelet: its pods go on, and the API gets no news of them',
};

function remedyWords({ remedy, healAfterMs }: CutPlan): string {
  const then = 'once it is not Ready';
  if (remedy === 'force-delete') return `the probe force-deletes its pods ${then}`;
  if (remedy === 'out-of-service') return `the probe taints it out-of-service ${then}`;
  const late = healAfterMs < evictedMs ? '. With stock timers the heal comes earlier' : '';
  return `Kubernetes evicts its pods five minutes after the node is not Ready, and force-detaches six minutes later: twelve minutes in all${late}`;
}

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
