/**
 * Trials on a cluster that is not ours: a namespace, its volumes and pods, what they show, and nothing
 * left of them. Nothing else there is touched.
 */
import { stringify } from 'yaml';
import { InfrastructureError } from '../errors.ts';
import { orMissing } from '../kube.ts';
import { writeOutput } from '../output-file.ts';
import {
  type ObjectTemplate,
  attachmentName,
  claimObject,
  containerName,
  podName,
  podObject,
} from './objects.ts';
import { predictDriver } from './predict.ts';
import {
  type Asked,
  chooseNodes,
  mustFit,
  mustHaveAttachments,
  mustHaveClass,
  mustReach,
} from './refuse.ts';
import {
  type Home,
  attachmentNeeds,
  granteeOf,
  homeNeeds,
  mustBeLimited,
  rbacObjects,
  trialNeeds,
} from './rights.ts';
import {
  type UserClients,
  answered,
  kubectl,
  missingRights,
  mustBeAllowed,
} from '../user-cluster.ts';
import { type Certificate, certificateOf } from './certificate.ts';
import { gatherFacts, type Facts } from './facts.ts';
import { atHome, newHome, ownerNow, removal } from './home.ts';
import { type PodsContext, VolumePods, createPod, writerProgram } from './pods.ts';
import { lastEvent, mustStart, nowMs, pause, poll, whileLooking } from './view.ts';
import { judgeTrials } from './judge/measured.ts';
import type { TrialRecord } from './judge/record.ts';
import {
  type ProbeTrial,
  type TrialPlan,
  type TrialPlanRequest,
  type VolumeMode,
  planHash,
  trialPlanOf,
} from './plan.ts';
import { refusal } from './refusals.ts';

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
  clients: UserClients,
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
  clients: UserClients,
  request: TrialsRequest,
): Promise<Certificate> {
  const { facts, plan } = await planTrials(clients, request);
  const { say, grant } = request;
  const home = newHome(request.namespace);
  await mustBeAllowed(clients, grant === undefined ? trialNeeds(home) : homeNeeds(home));
  if (home.isGiven && grant === undefined) await mustBeLimited(clients, home.namespace);
  say(
    `namespace ${home.namespace}; if this process is killed: ${removal(home)} removes what it made`,
  );
  const lease = { watchMs: plan.horizonMs, security: 'baseline' } as const;
  return atHome({ clients, home, say, ...lease }, () =>
    whileLooking(clients, home.namespace, [request.signal], (seeing) => {
      const [, next] = plan.nodes;
      const nextLabels = facts.nodes.find(({ name }) => name === next)?.labels ?? {};
      return inNamespace({ clients, ...seeing, say, nextLabels }, { home, plan, facts, request });
    }),
  );
}

interface TrialContext extends PodsContext {
  readonly say: (line: string) => void;
  /** Labels of the next pod's node. */
  readonly nextLabels: Readonly<Record<string, string>>;
}

async function inNamespace(
  context: TrialContext,
  asked: {
    readonly home: Home;
    readonly plan: TrialPlan;
    readonly facts: Facts;
    readonly request: TrialsRequest;
  },
): Promise<Certificate> {
  const { home, facts, request } = asked;
  const { say, grant } = request;
  const asAsked = { ...home, plan: asked.plan, program: writerProgram(), owner: ownerNow() };
  const settled = request.volumeMode === 'auto' ? await settle(context, asAsked) : undefined;
  const { volumeMode = asked.plan.volumeMode, why: noBlock } = settled ?? {};
  const plan = trialPlanOf({ ...asked.plan, volumeMode });
  say(
    `plan ${planHash(plan)}: ${plan.list.length} volumes as ${plan.volumeMode}, ${plan.nodes.join(' → ')}`,
  );
  const beganAt = new Date();
  const template = { ...asAsked, plan, isProvisioned: grant !== undefined };
  if (grant !== undefined) {
    const names = await provisionTrials(context, template);
    await waitForGrant(context.clients, names, {
      ...{ home, file: grant, say, signal: context.signal },
    });
  }
  const trials = await Promise.all(plan.list.map((trial) => runTrial(context, template, trial)));
  const prediction = predictDriver(facts);
  const judged = judgeTrials(trials, plan);
  return certificateOf({ facts, plan, beganAt, trials, judged, prediction, noBlock });
}

const settleMs = 180_000;
const refusals = /^(ProvisioningFailed|FailedAttachVolume|FailedMount|FailedMapVolume)$/;

/** Whether a raw volume of the class can be had: the driver's own answer decides. */
async function settle(
  context: TrialContext,
  template: ObjectTemplate,
): Promise<{ readonly volumeMode: VolumeMode; readonly why?: string }> {
  const { view, say, signal } = context;
  const { core } = context.clients;
  const { namespace } = template;
  const trial = { name: 'block', variant: 'kept' } as const;
  const body = claimObject(template, trial);
  await core.createNamespacedPersistentVolumeClaim({ namespace, body });
  await createPod(core, namespace, podObject(template, trial, 'writer'), signal);
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
  await mustReachNext(context, template.plan, view.claim(trial.name)?.spec?.volumeName);
  const why = 'why' in settled ? `: ${settled.why}` : '';
  say(`volumes as ${settled.volumeMode}${why}`);
  await core.deleteNamespacedPod({ name: pod, namespace, gracePeriodSeconds: 1 });
  return settled;
}

/** What the provisioner made of a class decides. Throws as `mustReach` does. */
async function mustReachNext(
  { clients, nextLabels }: TrialContext,
  { nodes }: TrialPlan,
  name: string | undefined,
): Promise<void> {
  if (name === undefined) return;
  const volume = await orMissing(clients.core.readPersistentVolume({ name }));
  mustReach(volume, nodes[1], nextLabels);
}

/** A volume is made. */
const provisionMs = 240_000;
/** Somebody has to see it and do it. */
const grantMs = 900_000;

/**
 * Makes the claims of all trials; the names of their writers' attachments, but for those that are left to
 * Kubernetes. They are hashes of volumes, so the volumes are made first. Throws as `View.until` does.
 */
async function provisionTrials(
  { clients: { core, ...at }, view }: TrialContext,
  template: ObjectTemplate,
): Promise<readonly string[]> {
  const { namespace, plan } = template;
  for (const trial of plan.list) {
    const body = claimObject(template, trial);
    await core.createNamespacedPersistentVolumeClaim({ namespace, body });
  }
  const what = { what: 'all volumes are made', timeoutMs: provisionMs };
  await view.until(what, () => {
    const open = plan.list.filter(({ name }) => view.claim(name)?.status?.phase !== 'Bound');
    const said = open.flatMap(({ name }) => view.eventsOf(name)).at(-1)?.message;
    return open.length === 0 || `${open.length} are not: ${said ?? 'no event yet'}`;
  });
  const ended = plan.list.filter(({ variant }) => variant !== 'force-deleted');
  return Promise.all(
    ended.map(async ({ name }) => {
      const volume = view.claim(name)?.spec?.volumeName ?? '';
      const reading = core.readPersistentVolume({ name: volume });
      const { spec } = await answered(at, `read the volume ${volume}`, reading);
      return attachmentName(spec?.csi?.volumeHandle ?? '', spec?.csi?.driver ?? '', plan.nodes[0]);
    }),
  );
}

interface GrantRequest extends Pick<TrialsRequest, 'say' | 'signal'> {
  readonly home: Home;
  /** Where the role goes. */
  readonly file: string;
}

/**
 * A role for just these attachments is written for whoever may grant it, and waited for. Throws
 * InfrastructureError `GRANT_TIMED_OUT`; as `answered` does.
 */
export async function waitForGrant(
  clients: UserClients,
  names: readonly string[],
  { home, file, say, signal }: GrantRequest,
): Promise<void> {
  const review = clients.authentication.createSelfSubjectReview({ body: {} });
  const { status } = await answered(clients, 'asked who you are', review);
  const to = granteeOf(status?.userInfo?.username ?? '');
  const objects = rbacObjects(`${home.namespace}-attachments`, attachmentNeeds(names), {
    to,
    home,
  });
  writeOutput(file, objects.map((object) => stringify(object)).join('---\n'));
  const command = kubectl(clients, `apply -f ${file}`);
  say(`waiting until you grant the deletion of ${names.length} attachments: ${command}`);
  const late = (missing: string): Error =>
    refusal(
      'GRANT_TIMED_OUT',
      `the right is still missing after ${grantMs / 60_000} minutes: ${missing}`,
      { command },
    );
  await poll({ timeoutMs: grantMs, everyMs: 2000, signal, late }, async () => {
    const [missing] = await missingRights(clients, attachmentNeeds(names));
    return missing ?? true;
  });
  say('granted');
}

/** A writer has written so often before anything is done to it. */
const steadyLines = 60;
/** Until Kubernetes says that the next pod must wait, or has let it in. */
const waitsMs = 60_000;
/** For the pod that reads what reached the disk. */
const readBackMs = 120_000;

/**
 * One trial, step by step, and the record of all that was seen in it. It judges nothing. Rejects with the
 * signal's reason alone; what else goes wrong stands in the record.
 */
async function runTrial(
  context: TrialContext,
  template: ObjectTemplate,
  { name, variant }: ProbeTrial,
): Promise<TrialRecord> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const own = { ...context, signal };
  const pods = new VolumePods(own, template, { name, variant });
  let whole: readonly string[] = [];
  try {
    await pods.noting('ended', async () => {
      await startWriter(own, template, pods);
      if (variant === 'force-deleted') return forceDelete(own, template, pods);
      if (variant === 'contested') await nextWaits(own, template, pods);
      await detach(pods);
      await watch(own, template, pods);
      // Once more, the whole of it.
      const logged = { name: pods.pod('writer'), namespace: template.namespace };
      const text = await own.clients.core.readNamespacedPodLog({
        ...{ ...logged, container: containerName },
      });
      whole = text.split('\n').filter(Boolean);
      if (variant !== 'contested') await readBack(own, template, pods);
    });
  } finally {
    over.abort();
  }
  return pods.finish(whole);
}

type Step = (context: TrialContext, template: ObjectTemplate, pods: VolumePods) => Promise<void>;

const startWriter: Step = async (context, { plan }, pods) => {
  await pods.startWriter();
  const { volume, attachment = '', variant } = pods.record;
  await mustReachNext(context, plan, volume);
  const attached = await pods.ofWriter?.look();
  if (attached?.spec.source.persistentVolumeName !== volume) {
    throw refusal('NO_ATTACHMENT', `${volume} has no attachment ${attachment.slice(0, 12)}…`);
  }
  const isIdle = variant === 'idle';
  await pods.steady(
    (lines) =>
      isIdle
        ? lines.some(({ line }) => line.split(' ')[1] === 'quiet')
        : lines.length >= steadyLines,
    `the pod ${pods.pod('writer')} ${isIdle ? 'is quiet' : 'writes steadily'}`,
  );
};

/** The next pod wants the volume before the detach: whoever is first after it has it. */
const nextWaits: Step = async ({ view }, { plan }, pods) => {
  await pods.startNext(plan.horizonMs + readBackMs);
  const pod = pods.pod('next');
  await view.until({ what: `the pod ${pod} waits for the volume`, timeoutMs: waitsMs }, () => {
    if (pods.seen('next')?.runningMs !== undefined) {
      throw refusal('NEXT_IS_IN', `${pod} had the volume before any detach`);
    }
    const isBarred = view.eventsOf(pod).some(({ reason }) => reason === 'FailedAttachVolume');
    return isBarred || 'no event reports it yet';
  });
};

async function detach({ ofWriter, record }: VolumePods): Promise<void> {
  const uid = (await ofWriter?.look())?.metadata?.uid;
  if (ofWriter === undefined || uid === undefined) {
    throw refusal('NO_ATTACHMENT', 'the attachment was gone before it was deleted');
  }
  Object.assign(record, await ofWriter.remove(uid));
}

/** The attachment is left to Kubernetes. What the writer says after it is heard as long as its kubelet tells. */
const forceDelete: Step = async ({ clients, signal, say }, { plan, namespace }, pods) => {
  const { record } = pods;
  Object.assign(record, await pods.forceDelete());
  await pods.startNext(plan.horizonMs + readBackMs);
  const isRead = (): boolean =>
    nowMs() > (pods.seen('next')?.runningMs ?? Infinity) + plan.besideForMs;
  const endMs = (record.deleteAskedMs ?? 0) + plan.horizonMs;
  while (nowMs() < endMs && !isRead()) await pause(500, signal);
  signal.throwIfAborted();
  record.watchEndedMs = nowMs();
  say(`${record.name}: watched`);
  // Its volume can go while the others are watched; what fails here goes with the namespace.
  const named = { name: pods.pod('next'), namespace };
  if (isRead()) await clients.core.deleteNamespacedPod(named).catch(() => undefined);
};

const watch: Step = async ({ signal, say }, { plan: { horizonMs } }, { record }) => {
  await pause((record.deleteAskedMs ?? nowMs()) + horizonMs - nowMs(), signal);
  signal.throwIfAborted();
  record.watchEndedMs = nowMs();
  say(`${record.name}: watched for ${horizonMs / 1000} s`);
};

/** What reached the disk, read on the other node once the writer is gone. */
const readBack: Step = async ({ clients, view }, { plan, namespace }, pods) => {
  const [writer, next] = [pods.pod('writer'), pods.pod('next')];
  await clients.core.deleteNamespacedPod({ name: writer, namespace });
  await pods.noting('readBack', async () => {
    const gone = { what: `the pod ${writer} is gone`, timeoutMs: readBackMs };
    await view.until(gone, () => pods.seen('writer')?.goneMs !== undefined || 'it is still there');
    await pods.startNext(plan.horizonMs + readBackMs);
    const read = { what: 'the next pod has read the disk', timeoutMs: readBackMs };
    await view.until(read, () => {
      const isRead = pods.linesOf('next').some(({ line }) => line.split(' ')[1] === 'scan');
      return isRead || lastEvent(view, next);
    });
  });
};
