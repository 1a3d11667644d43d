/**
 * What a probe is going to do: pure, so that it can be shown, hashed and tested before anything is
 * made. The hash is fixed before the first trial and stands in the certificate.
 */
import { createHash } from 'node:crypto';

/** What is done to an attachment while its node uses the volume. */
export const detachVariants = [
  /** The pod stays, its attachment is deleted while it writes. */
  'kept',
  /** The same while it holds the volume and writes nothing; then it writes again. */
  'idle',
  /** The same while a pod on another node waits for the volume: either node may have it next. */
  'contested',
] as const;
export type DetachVariant = (typeof detachVariants)[number];

/** What is done to a volume while its node uses it. */
export const variants = [
  ...detachVariants,
  /** The pod is deleted by force, and its attachment is left to Kubernetes; then a pod starts on the other node. */
  'force-deleted',
] as const;
export type Variant = (typeof variants)[number];

/** Whether a claim of this name may be a probe's: of a trial, of a cut, or the one that asks for a raw volume. */
export const isTrialName = (name = ''): boolean =>
  name === 'block' || new RegExp(`^(${[...variants, 'cut'].join('|')})-\\d+$`).test(name);

export type VolumeMode = 'Block' | 'Filesystem';

export interface ProbeTrial {
  /** Names its claim; its pods add `-a` and `-b`. */
  readonly name: string;
  readonly variant: Variant;
}

export interface TrialPlanRequest {
  readonly storageClass: string;
  /** The writer's node, and the next one's. */
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

export interface TrialPlan extends TrialPlanRequest {
  readonly version: 3;
  readonly list: readonly ProbeTrial[];
  readonly writeEveryMs: number;
  /** An idle pod writes this long before it is quiet, and is quiet for so long. */
  readonly quietAfterMs: number;
  readonly quietForMs: number;
  /** So long a next pod reads and writes after a pod that was deleted by force. */
  readonly besideForMs: number;
}

/** Share of the watch: what comes after it shows whether the quiet one was cut off. */
const quietShare = 0.4;
const besideShare = 0.3;

export function trialPlanOf(request: TrialPlanRequest): TrialPlan {
  const { storageClass, nodes, trials, volumeMode, size, horizonMs, image } = request;
  const counts: Readonly<Record<Variant, number>> = {
    ...{ kept: trials, idle: Math.ceil(trials / 5), contested: trials, 'force-deleted': trials },
  };
  const list = variants.flatMap((variant) =>
    Array.from({ length: counts[variant] }, (_, index) => ({
      name: `${variant}-${index + 1}`,
      variant,
    })),
  );
  return {
    ...{ version: 3, storageClass, nodes, trials, volumeMode, size, horizonMs, image, list },
    ...{ writeEveryMs: 50, quietAfterMs: 4000, quietForMs: Math.round(horizonMs * quietShare) },
    besideForMs: Math.round(horizonMs * besideShare),
  };
}

/** Hash of a plan of trials, or of a cut. */
export const planHash = (plan: object): string =>
  createHash('sha256').update(JSON.stringify(plan)).digest('hex').slice(0, 16);

/** For people, one line each. */
export function planLines(plan: TrialPlan): string[] {
  const [a, b] = plan.nodes;
  const seconds = plan.horizonMs / 1000;
  const count = (variant: Variant): number =>
    plan.list.filter((trial) => trial.variant === variant).length;
  return [
    `plan ${planHash(plan)}: ${plan.list.length} volumes of the class ${plan.storageClass}, ` +
      `${plan.size} each, as ${plan.volumeMode}, side by side`,
    `  writers on ${a}, one write (O_DIRECT, O_DSYNC) each ${plan.writeEveryMs} ms; next pods on ${b}`,
    `  kept (${count('kept')}): the probe deletes the attachment while the pod writes`,
    `  idle (${count('idle')}): the same, while the pod holds the volume and does not write`,
    `  contested (${count('contested')}): the same, while a pod on ${b} waits for the volume`,
    // Older plans have none.
    ...(count('force-deleted') === 0 ? [] : [forcedLine(plan, count('force-deleted'))]),
    `  the probe watches for ${seconds} s, then removes all of it`,
  ];
}

const forcedLine = ({ nodes, besideForMs }: TrialPlan, count: number): string =>
  `  force-deleted (${count}): the probe deletes the pod with a grace period of 0; a pod on ${nodes[1]} then reads and writes for ${besideForMs / 1000} s`;
