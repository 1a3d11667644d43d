/**
 * Cuts one node off and watches what becomes of volumes that a pod there writes to, while the next pod
 * wants them. The node heals itself: the heal is armed on it and rehearsed before anything is cut.
 */
import { InfrastructureError } from '../../errors.ts';
import { mustBeAllowed } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import { gatherFacts, type Facts } from '../facts.ts';
import { planHash } from '../plan.ts';
import { chooseNodes, mustHaveAttachments, mustHaveClass } from '../refuse.ts';
import { cutNeeds } from '../rights.ts';
import { makeNamespace, newNamespace, removeNamespace } from '../trials/place.ts';
import { View } from '../trials/view.ts';
import { cutCertificateOf, type CutCertificate } from './certificate.ts';
import { classifyCut } from './classify.ts';
import { Cut, healed, type CutDraft } from './play.ts';
import { cutPlanOf, type CutPlan, type CutRequest } from './plan.ts';
import type { CutRecord } from './record.ts';
import { mustBeConfirmed, mustBeCuttable } from './refuse.ts';
import type { CutContext } from './volume.ts';

export interface CutOptions extends Omit<CutRequest, 'nodes'> {
  readonly node: string;
  /** Default: the first that fits. */
  readonly next?: string;
  /** The node's name once more. */
  readonly confirmed: string | undefined;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What would be done; makes nothing. Throws UsageError for what is refused, and as `answered` does. */
export async function planCut(
  clients: ProbeClients,
  options: CutOptions,
): Promise<{ readonly plan: CutPlan; readonly facts: readonly Facts[] }> {
  const facts: Facts[] = [];
  for (const storageClass of options.classes) {
    const found = await gatherFacts(clients, storageClass);
    mustHaveClass(found, { storageClass, nodes: undefined });
    mustHaveAttachments(found);
    facts.push(found);
  }
  const { node, next, classes, way, remedy, healAfterMs, size, image, volumeMode } = options;
  const [some] = facts;
  if (some === undefined) throw new InfrastructureError('NO_CLASS', 'no class was named');
  const other = next ?? some.nodes.find((each) => each.name !== node && fits(each))?.name ?? '';
  const asked: [string, string] = [node, other];
  for (const each of facts) {
    chooseNodes(each, { storageClass: each.storageClass?.metadata?.name ?? '', nodes: asked });
  }
  await mustBeCuttable(clients, some, asked);
  const request = { classes, nodes: asked, way, remedy, healAfterMs, size, image, volumeMode };
  return { plan: cutPlanOf(request), facts };
}

const fits = ({ ready, schedulable, hasDriver, outOfService }: Facts['nodes'][number]): boolean =>
  ready && schedulable && hasDriver && !outOfService;

/**
 * Throws as `planCut` does, UsageError `CUT_NOT_CONFIRMED`, InfrastructureError `CUT_HOST`,
 * `CUT_NOT_SEEN`, `CUT_NOT_HEALED`, `PROBE_STAYS`. Whatever comes, it waits for the node's heal.
 */
export async function runCut(clients: ProbeClients, options: CutOptions): Promise<CutCertificate> {
  const { plan, facts } = await planCut(clients, options);
  mustBeConfirmed(options.node, options.confirmed);
  const namespace = newNamespace();
  await mustBeAllowed(clients, cutNeeds(namespace, plan.remedy === 'out-of-service'));
  options.say(
    `namespace ${namespace}; if this process is killed: ${plan.nodes[0]} heals itself, --clean removes the rest`,
  );
  const beganAt = new Date();
  try {
    await makeNamespace(clients, namespace, 'privileged');
    const record = await inNamespace(clients, namespace, plan, options);
    const findings = record.volumes.map((volume) => classifyCut(record, volume, plan.remedy));
    return cutCertificateOf({ facts, plan, hash: planHash(plan), beganAt, record, findings });
  } finally {
    options.say('removing all that was made');
    await removeNamespace(clients, namespace);
  }
}

async function inNamespace(
  clients: ProbeClients,
  namespace: string,
  plan: CutPlan,
  { say, signal: asked }: CutOptions,
): Promise<CutRecord> {
  const record: CutDraft = {
    ...{ checked: false, looks: [], volumes: [] },
  };
  const parts = { clients, namespace, plan, say };
  try {
    await looking(parts, asked, (context) => new Cut(context, record).play());
    return record;
  } finally {
    // The heal is not to be asked for, only awaited; also by who gives up.
    if (record.armedMs !== undefined && !record.checked) {
      await looking(parts, undefined, (context) => healed(context, record));
    }
  }
}

/** The namespace is looked at while `work` does what it does, to the end of that or of the signal. */
async function looking(
  parts: Omit<CutContext, 'view' | 'signal'>,
  asked: AbortSignal | undefined,
  work: (context: CutContext) => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, ...(asked === undefined ? [] : [asked])]);
  const view = new View(parts.clients, parts.namespace, signal);
  const looked = view.run();
  try {
    await work({ ...parts, view, signal });
  } finally {
    over.abort();
    await looked;
  }
}
