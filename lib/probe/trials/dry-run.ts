/** What trials would make, for people to read before they allow it. Nothing is made. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import type { ProbeClients } from '../clients.ts';
import { planLines, variants } from '../plan.ts';
import { grantedObjects } from '../granted.ts';
import { probeAccount, type Home } from '../rights.ts';
import { claimObject, podObject, type Place } from './objects.ts';
import { exampleNamespace, namespaceNow } from './place.ts';
import { planTrials, type TrialsRequest } from './run.ts';
import { writerProgram } from './volume-pods.ts';

/**
 * YAML with the plan as a comment: rights, namespace, then of each kind of trial the first one's claim and
 * pods; the others differ by their names and tokens only. Throws as `planTrials` does.
 */
export async function dryRun(clients: ProbeClients, request: TrialsRequest): Promise<string> {
  const { plan } = await planTrials(clients, request);
  const home = shownHome(request.namespace);
  const namespace = request.namespace ?? exampleNamespace;
  const place = { namespace, plan, program: writerProgram() };
  const grantsLater = request.grant !== undefined;
  const rest = plan.list.length - variants.length;
  const head = [
    'Nothing was made. Trials (--run) would do this:',
    ...planLines(plan),
    `${home.isGiven ? '' : 'the namespace has another name each time; '}${rest} more claims with two pods each are like these`,
    ...(request.volumeMode === 'auto'
      ? ['before them, one claim and pod as Block; where the driver refuses, all are Filesystem']
      : []),
    'two things are deleted that are not here: the VolumeAttachments of those claims but for force-deleted ones, and their pods',
    ...(grantsLater
      ? ['a role for just these attachments is written once the volumes are there']
      : []),
  ];
  const objects = [
    ...grantedObjects({ home, grantsLater, to: probeAccount }),
    ...(home.isGiven ? [] : [asWhole('v1', 'Namespace', namespaceNow(namespace))]),
    ...trialObjects(place),
  ];
  return commented(head, objects);
}

/** Of a run that is not made. */
export const shownHome = (given: string | undefined): Home => ({
  namespace: given ?? '',
  isGiven: given !== undefined,
});

/** YAML documents under a comment. */
export function commented(head: readonly string[], objects: readonly object[]): string {
  const comment = head.map((line) => `# ${line}`).join('\n');
  return [comment, ...objects.map((object) => stringify(object).trimEnd())].join('\n---\n');
}

function trialObjects(place: Place): object[] {
  return variants.flatMap((variant) => {
    const trial = place.plan.list.find((each) => each.variant === variant);
    if (trial === undefined) return [];
    const claim = asWhole('v1', 'PersistentVolumeClaim', claimObject(place, trial));
    const pods = (['writer', 'next'] as const).map((role) =>
      asWhole('v1', 'Pod', podObject(place, trial, role)),
    );
    return [claim, ...pods].map((object) => inNamespace(object, place.namespace));
  });
}

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
