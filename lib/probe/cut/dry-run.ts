/** What a cut would make, for people to read before they allow it. Nothing is made. */
import type { ProbeClients } from '../clients.ts';
import { grantedObjects } from '../granted.ts';
import { probeAccount } from '../rights.ts';
import { asWhole, commented, inNamespace, shownHome } from '../trials/dry-run.ts';
import { claimObject, podObject } from '../trials/objects.ts';
import { exampleNamespace, namespaceNow } from '../trials/place.ts';
import {
  armScript,
  checkScript,
  collectScript,
  cutScript,
  journalFolder,
  latestHealMs,
  tidyScript,
} from './host.ts';
import { hostPod, vantagePod } from './objects.ts';
import { cutPlanLines, type CutPlan } from './plan.ts';
import { tidyLaterMs } from './play.ts';
import { planCut, type CutOptions } from './run.ts';
import { placeOf } from './volume.ts';

/**
 * YAML with the plan as a comment: rights, namespace, the first class's claim and pods, and all pods that
 * enter the node, with what they do there. Throws as `planCut` does.
 */
export async function cutDryRun(clients: ProbeClients, options: CutOptions): Promise<string> {
  const { plan } = await planCut(clients, options);
  const namespace = options.namespace ?? exampleNamespace;
  const home = shownHome(options.namespace);
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
  return commented(head, [
    ...grantedObjects({ home, cut, grantsLater: false, to: probeAccount }),
    ...(home.isGiven ? [] : [asWhole('v1', 'Namespace', namespaceNow(namespace, 'privileged'))]),
    ...madeObjects(plan, namespace),
  ]);
}

function madeObjects(plan: CutPlan, namespace: string): object[] {
  const [first] = plan.volumes;
  if (first === undefined) return [];
  const run = exampleNamespace;
  const { nodes, image, way, healAfterMs } = plan;
  const place = placeOf({ namespace, plan }, first.storageClass);
  const trial = { name: first.name, variant: 'contested' } as const;
  const where = { namespace, node: nodes[0], image };
  const scripts = {
    prepare: tidyScript(run, latestHealMs(healAfterMs) + tidyLaterMs),
    arm: armScript(way, run, healAfterMs),
    cut: cutScript(way, run),
    check: checkScript(way, run),
    collect: collectScript(run),
  };
  const pods = [
    podObject(place, trial, 'writer', journalFolder(run)),
    podObject(place, trial, 'next'),
    vantagePod({ ...where, node: nodes[1] }, 'the address of the first node'),
    ...Object.entries(scripts).map(([name, script]) => hostPod(where, name, script)),
  ];
  return [
    asWhole('v1', 'PersistentVolumeClaim', claimObject(place, trial)),
    ...pods.map((pod) => asWhole('v1', 'Pod', pod)),
  ].map((object) => inNamespace(object, namespace));
}
