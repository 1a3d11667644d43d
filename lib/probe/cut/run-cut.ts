/**
 * Cuts one node off and watches what becomes of volumes that a pod there writes to, while the next pod
 * wants them. The node heals itself: the heal is armed on it and rehearsed before anything is cut.
 */
import { mustBeAllowed } from '../../user-cluster.ts';
import type { ProbeClients } from '../clients.ts';
import { gatherClassFacts, gatherFacts, type AtLeastOne, type Facts } from '../facts.ts';
import { topologyOf } from '../topology.ts';
import { planHash } from '../trial-plan.ts';
import { chooseNodes, mustHaveAttachments, mustHaveClass } from '../refuse.ts';
import { cutNeeds, type Home } from '../rights.ts';
import { atHome, newHome, removal } from '../trials/home.ts';
import { newProbeNamespace } from '../trials/namespace.ts';
import { whileLooking } from '../trials/view.ts';
import { cutCertificateOf, type CutCertificate } from './certificate.ts';
import { classifyCut } from './classify.ts';
import { latestHealMs } from './host.ts';
import { CutRun, healed, type CutDraft } from './play.ts';
import { cutPlanOf, type CutPlan, type CutRequest } from './cut-plan.ts';
import type { CutRecord } from './record.ts';
import { mustBeConfirmed, mustBeCuttable } from './refuse.ts';
import { handOverMs } from './volume.ts';

export interface CutOptions extends Omit<CutRequest, 'nodes'> {
  readonly classes: AtLeastOne<string>;
  readonly node: string;
  /** Default: the first that fits. */
  readonly next?: string;
  /** The node's name once more. */
  readonly confirmed: string | undefined;
  /** Namespace that was given, as for trials. */
  readonly namespace?: string;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** What would be done; makes nothing. Throws UsageError for what is refused, and as `answered` does. */
export async function planCut(
  clients: ProbeClients,
  options: CutOptions,
): Promise<{ readonly plan: CutPlan; readonly facts: readonly Facts[] }> {
  const facts = await gatherClassFacts(clients, options.classes);
  for (const [index, storageClass] of options.classes.entries()) {
    const found = facts[index];
    if (found === undefined) continue;
    mustHaveClass(found, { storageClass, nodes: undefined });
    mustHaveAttachments(found);
  }
  const { node, next, classes, way, remedy, healAfterMs, size, image, volumeMode } = options;
  const [some] = facts;
  const others = some.nodes.filter((each) => each.name !== node && fits(each));
  const same = others.find(({ name }) => facts.every((each) => isSameTopology(each, node, name)));
  const other = next ?? (same ?? others[0])?.name ?? '';
  const asked: [string, string] = [node, other];
  for (const each of facts) {
    chooseNodes(each, { storageClass: each.storageClass?.metadata?.name ?? '', nodes: asked });
  }
  await mustBeCuttable(clients, some, asked);
  const request = { classes, nodes: asked, way, remedy, healAfterMs, size, image, volumeMode };
  return { plan: cutPlanOf(request), facts };
}

function isSameTopology({ nodes }: Facts, ...names: readonly [string, string]): boolean {
  const [a, b] = names.map((name) => nodes.find((node) => node.name === name));
  return a !== undefined && b !== undefined && topologyOf(a) === topologyOf(b);
}

const fits = ({ ready, schedulable, hasDriver, outOfService }: Facts['nodes'][number]): boolean =>
  ready && schedulable && hasDriver && !outOfService;

/** A node that is late is waited for as long as its heal takes; then for volumes that nobody let go. */
export const watchMsOf = ({ healAfterMs }: CutPlan): number =>
  2 * latestHealMs(healAfterMs) + handOverMs;

/**
 * Throws as `planCut` does, UsageError `CUT_NOT_CONFIRMED`, InfrastructureError `CUT_HOST`,
 * `CUT_NOT_SEEN`, `CUT_NOT_HEALED`, and as `atHome` does. Whatever comes, it waits for the node's heal.
 */
export async function runCut(clients: ProbeClients, options: CutOptions): Promise<CutCertificate> {
  const { plan, facts } = await planCut(clients, options);
  mustBeConfirmed(options.node, options.confirmed);
  const { namespace: given, say } = options;
  const home = newHome(given);
  const marks = plan.remedy === 'out-of-service';
  await mustBeAllowed(clients, cutNeeds(home, options.node, marks));
  say(
    `namespace ${home.namespace}; if this process is killed: ${plan.nodes[0]} heals itself, ${removal(home)} removes the rest`,
  );
  const beganAt = new Date();
  const lease = { watchMs: watchMsOf(plan), security: 'privileged' } as const;
  return atHome({ clients, home, say, ...lease }, async () => {
    const record = await inNamespace(clients, home, plan, options);
    const findings = record.volumes.map((volume) => classifyCut(record, volume, plan.remedy));
    return cutCertificateOf({ facts, plan, hash: planHash(plan), beganAt, record, findings });
  });
}

async function inNamespace(
  clients: ProbeClients,
  { namespace, isGiven }: Home,
  plan: CutPlan,
  { say, signal: asked }: CutOptions,
): Promise<CutRecord> {
  const record: CutDraft = { checked: false, looks: [], volumes: [] };
  // What is on the host has a name of this run, whoever else is in the namespace.
  const run = isGiven ? newProbeNamespace() : namespace;
  const parts = { clients, namespace, run, plan, say };
  // Minutes go by until the cut: who has come meanwhile is no less at stake.
  const guard = async (): Promise<void> =>
    mustBeCuttable(
      clients,
      await gatherFacts(clients, plan.classes[0] ?? ''),
      plan.nodes,
      namespace,
    );
  try {
    await whileLooking(clients, namespace, [asked], (seeing) =>
      new CutRun({ ...parts, ...seeing }, record, guard).play(),
    );
    return record;
  } finally {
    // The heal is not to be asked for, only awaited; also by who gives up.
    if (record.armedMs !== undefined && !record.checked) {
      await whileLooking(clients, namespace, [], (seeing) =>
        healed({ ...parts, ...seeing }, record),
      );
    }
  }
}
