/** What trials, or a cut, would make, for people to read before they allow it. Nothing is made. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import type { ProbeClients } from './clients.ts';
import { armingScript } from './cut/arming-script.ts';
import {
  checkScript,
  collectScript,
  cutArming,
  healArming,
  journalFolder,
  latestHealMs,
  tidyArming,
} from './cut/host.ts';
import { hostPod, vantagePod } from './cut/objects.ts';
import { type CutPlan, cutPlanLines } from './cut/cut-plan.ts';
import { tidyLaterMs } from './cut/play.ts';
import { type CutOptions, planCut, watchMsOf } from './cut/run-cut.ts';
import { templateOf } from './cut/volume.ts';
import { planLines, variants } from './trial-plan.ts';
import { grantedObjects, type Home, probeAccount } from './rights.ts';
import { claimObject, type ObjectTemplate, podObject } from './trials/objects.ts';
import { exampleNamespace, namespaceNow } from './trials/namespace.ts';
import { planTrials, type TrialsRequest } from './trials/run-trials.ts';
import { writerProgram } from './trials/volume-pods.ts';

/**
 * YAML with the plan as a comment: rights, namespace, then of each kind of trial the first one's claim and
 * pods; the others differ by their names and tokens only. Throws as `planTrials` does.
 */
export async function dryRun(clients: ProbeClients, request: TrialsRequest): Promise<string> {
  const { plan } = await planTrials(clients, request);
  const home = shownHome(request.namespace);
  const namespace = request.namespace ?? exampleNamespace;
  const template = { namespace, plan, program: writerProgram() };
  const grantsLater = request.grant !== undefined;
  const lease = { watchMs: plan.horizonMs, security: 'baseline' } as const;
  const rest = plan.list.length - variants.length;
  const head = [
    'Nothing was made. Trials (--run) would do this:',
    ...planLines(plan),
    `${home.isGiven ? '' : 'each run has its own namespace name; '}${rest} more claims with two pods each are like these`,
    ...(request.volumeMode === 'auto'
      ? ['first comes one claim and pod as Block; if the driver refuses it, all are Filesystem']
      : []),
    'trials also delete two things that are not listed: the pods, and the VolumeAttachments of all claims but the force-deleted ones',
    ...(grantsLater
      ? ['once the volumes exist, the probe writes a role for just these attachments']
      : []),
  ];
  const objects = [
    ...grantedObjects({ home, grantsLater, to: probeAccount }),
    ...(home.isGiven ? [] : [asWhole('v1', 'Namespace', namespaceNow(namespace, lease))]),
    ...trialObjects(template),
  ];
  return commented(head, objects);
}

/** Home of a run that is not made. */
export const shownHome = (given: string | undefined): Home => ({
  namespace: given ?? '',
  isGiven: given !== undefined,
});

/** YAML documents under a comment. */
export function commented(head: readonly string[], objects: readonly object[]): string {
  const comment = head.map((line) => `# ${line}`).join('\n');
  return [comment, ...objects.map((object) => stringify(object).trimEnd())].join('\n---\n');
}

const trialObjects = (template: ObjectTemplate): object[] =>
  variants.flatMap((variant) => {
    const trial = template.plan.list.find((each) => each.variant === variant);
    if (trial === undefined) return [];
    const claim = asWhole('v1', 'PersistentVolumeClaim', claimObject(template, trial));
    const pods = (['writer', 'next'] as const).map((role) =>
      asWhole('v1', 'Pod', podObject(template, trial, role)),
    );
    return [claim, ...pods].map((object) => inNamespace(object, template.namespace));
  });

export function inNamespace(object: KubernetesObject, namespace: string): object {
  const { name, labels } = object.metadata ?? {};
  return { ...object, metadata: { name, labels, namespace } };
}

export const asWhole = (
  apiVersion: string,
  kind: string,
  object: KubernetesObject,
): KubernetesObject => ({
  ...{ apiVersion, kind },
  ...object,
});

/**
 * YAML with the plan as a comment: rights, namespace, the first class's claim and pods, and all pods that
 * enter the node, with what they do there. Throws as `planCut` does.
 */
export async function cutDryRun(clients: ProbeClients, options: CutOptions): Promise<string> {
  const { plan } = await planCut(clients, options);
  const namespace = options.namespace ?? exampleNamespace;
  const home = shownHome(options.namespace);
  const cut = { node: options.node, marks: plan.remedy === 'out-of-service' };
  const lease = { watchMs: watchMsOf(plan), security: 'privileged' } as const;
  const head = [
    'Nothing was made. The cut (--yes) would do this:',
    ...cutPlanLines(plan),
    `${plan.volumes.length - 1} more claims with two pods each are like the first`,
    'names on the host are of one run each; those of the rehearsal’s pods begin with rehearse-',
    ...(cut.marks
      ? [`the node gets the taint out-of-service, with ${namespace} as its value`]
      : []),
  ];
  return commented(head, [
    ...grantedObjects({ home, cut, grantsLater: false, to: probeAccount }),
    ...(home.isGiven ? [] : [asWhole('v1', 'Namespace', namespaceNow(namespace, lease))]),
    ...madeObjects(plan, namespace),
  ]);
}

function madeObjects(plan: CutPlan, namespace: string): object[] {
  const [first] = plan.volumes;
  if (first === undefined) return [];
  const run = exampleNamespace;
  const { nodes, image, way, healAfterMs } = plan;
  const template = templateOf({ namespace, plan }, first.storageClass);
  const trial = { name: first.name, variant: 'contested' } as const;
  const where = { namespace, node: nodes[0], image };
  const scripts = {
    prepare: armingScript(tidyArming(run, latestHealMs(healAfterMs) + tidyLaterMs)),
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
    asWhole('v1', 'PersistentVolumeClaim', claimObject(template, trial)),
    ...pods.map((pod) => asWhole('v1', 'Pod', pod)),
  ].map((object) => inNamespace(object, namespace));
}
