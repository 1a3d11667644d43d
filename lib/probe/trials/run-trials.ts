/**
 * Trials on a cluster that is not ours: a namespace, its volumes and pods, what they show, and nothing
 * left of them. Nothing else there is touched.
 */
import { InfrastructureError } from '../../errors.ts';
import { mustBeAllowed } from '../../user-cluster.ts';
import { gatherFacts, type Facts } from '../facts.ts';
import type { ProbeClients } from '../clients.ts';
import { mustBeLimited } from '../policy.ts';
import {
  planHash,
  trialPlanOf,
  type TrialPlan,
  type TrialPlanRequest,
  type VolumeMode,
} from '../trial-plan.ts';
import { predictDriver } from '../predict.ts';
import { chooseNodes, mustFit, mustHaveAttachments, mustHaveClass, type Asked } from '../refuse.ts';
import { homeNeeds, trialNeeds, type Home } from '../rights.ts';
import { certificateOf, type Certificate } from './certificate.ts';
import { judgeTrials } from './judge-trials.ts';
import { provisionTrials, waitForGrant } from './grant.ts';
import { atHome, newHome, removal } from './home.ts';
import { claimObject, podName, podObject, type ObjectTemplate } from './objects.ts';
import { ownerNow } from './namespace.ts';
import { mustReachNext, runTrial, type TrialContext } from './trial.ts';
import { mustStart, whileLooking } from './view.ts';
import { createPod, writerProgram } from './volume-pods.ts';

export interface TrialsRequest
  extends Asked,
    Pick<TrialPlanRequest, 'trials' | 'size' | 'horizonMs' | 'image'> {
  /** `auto`: Block where a first volume of it can be had, else Filesystem. */
  readonly volumeMode: VolumeMode | 'auto';
  /** A namespace that was made for probes. Default: one of its own. */
  readonly namespace?: string;
  /** A file for a role of just these attachments, which is waited for. Default: any may be deleted. */
  readonly grant?: string;
  /** Takes one line at a time. */
  readonly say: (line: string) => void;
  /** Ends the trials; what was made is removed all the same. */
  readonly signal: AbortSignal;
}

/**
 * What would be asked; makes nothing. Throws UsageError for what is refused (refuse.ts), and as `answered`
 * does.
 */
export async function planTrials(
  clients: ProbeClients,
  request: TrialsRequest,
): Promise<{ readonly facts: Facts; readonly plan: TrialPlan }> {
  const facts = await gatherFacts(clients, request.storageClass);
  mustHaveClass(facts, request);
  for (const { what, why } of facts.refused) request.say(`${what}: ${why}`);
  mustHaveAttachments(facts);
  const nodes = chooseNodes(facts, request);
  const volumeMode = request.volumeMode === 'auto' ? 'Block' : request.volumeMode;
  const plan = trialPlanOf({ ...request, nodes, volumeMode });
  mustFit(facts, plan);
  return { facts, plan };
}

/**
 * Throws as `planTrials` does, InfrastructureError `CLUSTER_FORBIDDEN` for a right that is missing,
 * `GRANT_TIMED_OUT`, UsageError `POLICY_MISSING`, before the first trial also `TRIAL_TIMED_OUT`, and as `atHome` does.
 */
export async function runTrials(
  clients: ProbeClients,
  request: TrialsRequest,
): Promise<Certificate> {
  const { facts, plan: asked } = await planTrials(clients, request);
  const home = newHome(request.namespace);
  await mustBeAllowed(clients, request.grant === undefined ? trialNeeds(home) : homeNeeds(home));
  if (home.isGiven && request.grant === undefined) await mustBeLimited(clients, home.namespace);
  request.say(
    `namespace ${home.namespace}; if this process is killed: ${removal(home)} removes what it made`,
  );
  const lease = { watchMs: asked.horizonMs, security: 'baseline' } as const;
  return atHome({ clients, home, say: request.say, ...lease }, () =>
    inNamespace({ clients, home, asked, facts, request }),
  );
}

interface TrialsUnderWay {
  readonly clients: ProbeClients;
  readonly home: Home;
  readonly asked: TrialPlan;
  readonly facts: Facts;
  readonly request: TrialsRequest;
}

function inNamespace({
  clients,
  home,
  asked,
  facts,
  request,
}: TrialsUnderWay): Promise<Certificate> {
  const { namespace } = home;
  const { say, grant } = request;
  return whileLooking(clients, namespace, [request.signal], async (seeing) => {
    const asAsked = { namespace, plan: asked, program: writerProgram(), owner: ownerNow() };
    const nextLabels = facts.nodes.find(({ name }) => name === asked.nodes[1])?.labels ?? {};
    const context = { clients, ...seeing, say, template: asAsked, nextLabels };
    const settled = request.volumeMode === 'auto' ? await settle(context) : undefined;
    const plan = trialPlanOf({ ...asked, volumeMode: settled?.volumeMode ?? asked.volumeMode });
    const hash = planHash(plan);
    say(
      `plan ${hash}: ${plan.list.length} volumes as ${plan.volumeMode}, ${plan.nodes.join(' → ')}`,
    );
    const beganAt = new Date();
    const template: ObjectTemplate = {
      ...context.template,
      plan,
      isProvisioned: grant !== undefined,
    };
    if (grant !== undefined) {
      const names = await provisionTrials({ ...context, template });
      await waitForGrant(clients, names, { home, file: grant, say, signal: seeing.signal });
    }
    const trials = plan.list.map((trial) => runTrial({ ...context, template }, trial));
    const records = await Promise.all(trials);
    const prediction = predictDriver(facts);
    return certificateOf({
      ...{ facts, plan, hash, beganAt, records, judged: judgeTrials(records, plan), prediction },
      ...(settled?.why === undefined ? {} : { noBlock: settled.why }),
    });
  });
}

const settleMs = 180_000;
const refusals = /^(ProvisioningFailed|FailedAttachVolume|FailedMount|FailedMapVolume)$/;

/** Whether a raw volume of the class can be had: the driver's own answer decides. */
async function settle(
  context: TrialContext,
): Promise<{ readonly volumeMode: VolumeMode; readonly why?: string }> {
  const { clients, template, view, say } = context;
  const { namespace } = template;
  const trial = { name: 'block', variant: 'kept' } as const;
  const { core } = clients;
  await core.createNamespacedPersistentVolumeClaim({
    namespace,
    body: claimObject(template, trial),
  });
  await createPod(core, namespace, podObject(template, trial, 'writer'), context.signal);
  const pod = podName(trial, 'writer');
  const what = 'a raw volume of the class is there, or refused';
  const asked = view.until({ what, timeoutMs: settleMs }, () => {
    const found = view.pod(pod);
    if (found?.seen.runningMs !== undefined) return { volumeMode: 'Block' as const };
    mustStart(pod, found?.pod);
    const events = [...view.eventsOf(trial.name), ...view.eventsOf(pod)];
    const no = events.find(({ reason }) => refusals.test(reason));
    if (no !== undefined) return { volumeMode: 'Filesystem' as const, why: no.message };
    return events.at(-1)?.message ?? 'no event yet';
  });
  // Neither is no answer of the class: files will show whether anything of it can be had.
  const settled = await asked.catch((error: unknown) => {
    if (!(error instanceof InfrastructureError && error.code === 'TRIAL_TIMED_OUT')) throw error;
    return { volumeMode: 'Filesystem' as const, why: error.message };
  });
  await mustReachNext(context, view.claim(trial.name)?.spec?.volumeName);
  const why = 'why' in settled ? `: ${settled.why}` : '';
  say(`volumes as ${settled.volumeMode}${why}`);
  await core.deleteNamespacedPod({ name: pod, namespace, gracePeriodSeconds: 1 });
  return settled;
}
