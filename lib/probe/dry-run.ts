/**
 * What is to be expected, and what trials or a cut would make, for people to read before they allow it. Nothing is made.
 */
import type { KubernetesObject } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import {
  describeError,
  ForcedetachError,
  missingRights,
  type UserClients,
  harnessVersion,
} from '../core/index.ts';
import type { PredictionReport } from './certificate.ts';
import { type CutOptions, planCut, templateOf, watchMsOf } from './cut.ts';
import { type Facts, gatherFacts } from './facts.ts';
import { type Lease, namespaceNow } from './home.ts';
import {
  armingScript,
  checkScript,
  collectScript,
  cutArming,
  healArming,
  journalFolder,
  tidyArming,
} from './node.ts';
import { claimObject, exampleNamespace, hostPod, podObject, vantagePod } from './objects.ts';
import {
  type CutPlan,
  cutPlanLines,
  planLines,
  trialPlanOf,
  type TrialPlanRequest,
  variants,
} from './plan.ts';
import { writerProgram } from './pods.ts';
import { predictDriver } from './predict.ts';
import { type Asked, chooseNodes, mustFit, mustHaveAttachments, mustHaveClass } from './refuse.ts';
import {
  type Granted,
  grantedObjects,
  type Home,
  probeAccount,
  readNeeds,
  trialNeeds,
} from './rights.ts';
import { planTrials, type TrialsRequest } from './trials.ts';

/** Home of a run that is not made. */
export const shownHome = (given: string | undefined): Home => ({
  namespace: given ?? '',
  isGiven: given !== undefined,
});

/**
 * YAML with the plan as a comment: rights, namespace, then of each kind of trial the first one's claim and
 * pods; the others differ by their names and tokens only. Throws as `planTrials` does.
 */
export async function dryRun(clients: UserClients, request: TrialsRequest): Promise<string> {
  const { plan } = await planTrials(clients, request);
  const namespace = request.namespace ?? exampleNamespace;
  const template = { namespace, plan, program: writerProgram() };
  const grantsLater = request.grant !== undefined;
  const isOwn = request.namespace === undefined;
  const rest = plan.list.length - variants.length;
  const head = [
    'Nothing was made. Trials (--run) would do this:',
    ...planLines(plan),
    `${isOwn ? 'each run has its own namespace name; ' : ''}${rest} more claims with two pods each are like these`,
    ...(request.volumeMode === 'auto'
      ? ['first comes one claim and pod as Block; if the driver refuses it, all are Filesystem']
      : []),
    'trials also delete two things that are not listed: the pods, and the VolumeAttachments of all claims but the force-deleted ones',
    ...(grantsLater
      ? ['once the volumes exist, the probe writes a role for just these attachments']
      : []),
  ];
  const firsts = variants.flatMap(
    (variant) => plan.list.find((each) => each.variant === variant) ?? [],
  );
  const made = firsts.flatMap((trial) => [
    asWhole('PersistentVolumeClaim', claimObject(template, trial), namespace),
    ...(['writer', 'next'] as const).map((role) =>
      asWhole('Pod', podObject(template, trial, role), namespace),
    ),
  ]);
  const lease = { watchMs: plan.horizonMs, security: 'baseline' } as const;
  return commented(head, request.namespace, { grantsLater }, lease, made);
}

/**
 * YAML with the plan as a comment: rights, namespace, the first class's claim and pods, and all pods that
 * enter the node, with what they do there. Throws as `planCut` does.
 */
export async function cutDryRun(clients: UserClients, options: CutOptions): Promise<string> {
  const { plan } = await planCut(clients, options);
  const namespace = options.namespace ?? exampleNamespace;
  const cut = { node: options.node, marks: plan.remedy === 'out-of-service' };
  const head = [
    'Nothing was made. The cut (--yes) would do this:',
    ...cutPlanLines(plan),
    `${plan.volumes.length - 1} more claims with two pods each are like the first`,
    'names on the host are of one run each; those of the rehearsal’s pods begin with rehearse-',
    ...(cut.marks
      ? [`the node gets the taint out-of-service, with ${namespace} as its value`]
      : []),
  ];
  const lease = { watchMs: watchMsOf(plan), security: 'privileged' } as const;
  const made = cutObjects(plan, namespace);
  return commented(head, options.namespace, { cut, grantsLater: false }, lease, made);
}

function cutObjects(plan: CutPlan, namespace: string): object[] {
  const [first] = plan.volumes;
  if (first === undefined) return [];
  const run = exampleNamespace;
  const { nodes, image, way, healAfterMs } = plan;
  const template = templateOf({ namespace, plan }, first.storageClass);
  const trial = { name: first.name, variant: 'contested' } as const;
  const where = { namespace, node: nodes[0], image };
  const scripts = {
    prepare: armingScript(tidyArming(run, healAfterMs)),
    arm: armingScript(healArming(way, run, healAfterMs)),
    cut: armingScript(cutArming(way, run)),
    check: checkScript(way, run),
    collect: collectScript(run),
  };
  const pods = [
    podObject(template, trial, 'writer', journalFolder(run)),
    podObject(template, trial, 'next'),
    vantagePod({ ...where, node: nodes[1] }, 'the address of the first node'),
    ...Object.entries(scripts).map(([name, script]) => hostPod(where, name, ['sh', '-c', script])),
  ];
  return [
    asWhole('PersistentVolumeClaim', claimObject(template, trial), namespace),
    ...pods.map((pod) => asWhole('Pod', pod, namespace)),
  ];
}

function commented(
  head: readonly string[],
  given: string | undefined,
  granted: Pick<Granted, 'cut' | 'grantsLater'>,
  lease: Lease,
  made: readonly object[],
): string {
  const objects = [
    ...grantedObjects({ ...granted, home: shownHome(given), to: probeAccount }),
    ...(given === undefined ? [asWhole('Namespace', namespaceNow(exampleNamespace, lease))] : []),
    ...made,
  ];
  const comment = head.map((line) => `# ${line}`).join('\n');
  return [comment, ...objects.map((object) => stringify(object).trimEnd())].join('\n---\n');
}

function asWhole(kind: string, object: KubernetesObject, namespace?: string): object {
  const { name, labels } = object.metadata ?? {};
  const metadata = namespace === undefined ? object.metadata : { name, labels, namespace };
  return { apiVersion: 'v1', kind, ...object, metadata };
}

/** A volume mode that is left open is shown as Block, which is tried first. */
export interface PredictionOptions
  extends Asked,
    Pick<TrialPlanRequest, 'trials' | 'volumeMode' | 'size' | 'horizonMs' | 'image'> {
  readonly namespace?: string;
}

/**
 * What is to be expected, and whether trials could be made. Makes nothing. Throws as `mustHaveClass` does, and
 * as `answered` .
 */
export async function predictionFor(
  clients: UserClients,
  options: PredictionOptions,
): Promise<PredictionReport> {
  const { namespace, storageClass } = options;
  const [facts] = await gatherFacts(clients, storageClass);
  mustHaveClass(facts, options);
  // The name of one of its own is not known before.
  const home = { namespace: namespace ?? exampleNamespace, isGiven: namespace !== undefined };
  return {
    ...{ schemaVersion: 1, kind: 'prediction', forcedetach: harnessVersion() },
    askedAt: new Date().toISOString(),
    ...{ storageClass, driver: facts.driver, kubernetes: facts.kubernetes },
    prediction: predictDriver(facts),
    ...planOrRefusal(facts, options),
    missingRights: await missingRights(clients, [...readNeeds, ...trialNeeds(home)]),
    refused: facts.refused,
  };
}

export function planOrRefusal(
  facts: Facts,
  options: PredictionOptions,
): Pick<PredictionReport, 'plan' | 'refusal'> {
  try {
    mustHaveAttachments(facts);
    const plan = trialPlanOf({ ...options, nodes: chooseNodes(facts, options) });
    mustFit(facts, plan);
    return { plan };
  } catch (error) {
    if (error instanceof ForcedetachError) return { refusal: describeError(error) };
    throw error;
  }
}
