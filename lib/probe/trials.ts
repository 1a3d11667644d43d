/**
 * Trials on a cluster that is not ours: a namespace, its volumes and pods, what they show, and nothing
 * left of them. Nothing else there is touched.
 */
import { stringify } from 'yaml';
import {
  InfrastructureError,
  orMissing,
  writeOutput,
  type UserClients,
  answered,
  kubectl,
  missingRights,
  mustBeAllowed,
} from '../core/index.ts';
import { type ObjectTemplate, attachmentName, claimObject } from './objects.ts';
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
import { type Certificate, certificateOf } from './certificate.ts';
import { gatherFacts, type Facts } from './facts.ts';
import { atHome, newHome, ownerNow, removal } from './home.ts';
import { type PodsContext, VolumePods, hasWord, writerProgram } from './pods.ts';
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
  const [facts] = await gatherFacts(clients, request.storageClass);
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
  const { facts, plan: wanted } = await planTrials(clients, request);
  const { say, grant } = request;
  const home = newHome(request.namespace);
  const { namespace } = home;
  await mustBeAllowed(clients, grant === undefined ? trialNeeds(home) : homeNeeds(home));
  if (home.isGiven && grant === undefined) await mustBeLimited(clients, namespace);
  say(`namespace ${namespace}; if this process is killed: ${removal(home)} removes what it made`);
  const nextLabels = facts.nodes.find(({ name }) => name === wanted.nodes[1])?.labels ?? {};
  const work = async (seeing: Pick<PodsContext, 'view' | 'signal'>): Promise<Certificate> => {
    const context = { clients, ...seeing, say, nextLabels };
    const asked = { namespace, plan: wanted, program: writerProgram(), owner: ownerNow() };
    const settled = request.volumeMode === 'auto' ? await settle(context, asked) : undefined;
    const { volumeMode = wanted.volumeMode, why: noBlock } = settled ?? {};
    const plan = trialPlanOf({ ...wanted, volumeMode });
    say(
      `plan ${planHash(plan)}: ${plan.list.length} volumes as ${plan.volumeMode}, ${plan.nodes.join(' → ')}`,
    );
    const beganAt = new Date();
    const template = { ...asked, plan, isProvisioned: grant !== undefined };
    if (grant !== undefined) {
      const names = await provisionTrials(context, template);
      await waitForGrant(clients, names, { home, file: grant, say, signal: context.signal });
    }
    const trials = await Promise.all(plan.list.map((trial) => runTrial(context, template, trial)));
    const judged = judgeTrials(trials, plan);
    const prediction = predictDriver(facts);
    return certificateOf({ facts, plan, beganAt, trials, judged, prediction, noBlock });
  };
  const lease = { watchMs: wanted.horizonMs, security: 'baseline' } as const;
  return atHome({ clients, home, say, ...lease }, () =>
    whileLooking(clients, namespace, [request.signal], work),
  );
}

interface TrialContext extends PodsContext {
  readonly say: (line: string) => void;
  readonly nextLabels: Readonly<Record<string, string>>;
}

const settleMs = 180_000;
const refusals = /^(ProvisioningFailed|FailedAttachVolume|FailedMount|FailedMapVolume)$/;

async function settle(
  context: TrialContext,
  template: ObjectTemplate,
): Promise<{ readonly volumeMode: VolumeMode; readonly why?: string }> {
  const { view, say } = context;
  const trial = new Trial(context, template, { name: 'block', variant: 'kept' });
  const pod = trial.pod('writer');
  await trial.claim();
  await trial.create('writer');
  const what = 'a raw volume of the class is there, or refused';
  const asked = view.until({ what, timeoutMs: settleMs }, () => {
    const found = view.pod(pod);
    if (found?.seen.runningMs !== undefined) return { volumeMode: 'Block' as const };
    mustStart(pod, found?.pod);
    const events = [...view.eventsOf('block'), ...view.eventsOf(pod)];
    const no = events.find(({ reason }) => refusals.test(reason));
    if (no !== undefined) return { volumeMode: 'Filesystem' as const, why: no.message };
    return events.at(-1)?.message ?? 'no event yet';
  });
  // Neither is no answer of the class: files will show whether anything of it can be had.
  const settled = await asked.catch((error: unknown) => {
    if (!(error instanceof InfrastructureError && error.code === 'TRIAL_TIMED_OUT')) throw error;
    return { volumeMode: 'Filesystem' as const, why: error.message };
  });
  await trial.mustReachNext(view.claim('block')?.spec?.volumeName);
  say(`volumes as ${settled.volumeMode}${'why' in settled ? `: ${settled.why}` : ''}`);
  await trial.delete('writer', { gracePeriodSeconds: 1 });
  return settled;
}

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

/**
 * A role for just these attachments is written for whoever may grant it, and waited for. `file`: where the role
 * goes. Throws InfrastructureError `GRANT_TIMED_OUT`; as `answered` does.
 */
export async function waitForGrant(
  clients: UserClients,
  names: readonly string[],
  asked: Pick<TrialsRequest, 'say' | 'signal'> & { readonly home: Home; readonly file: string },
): Promise<void> {
  const { home, file, say, signal } = asked;
  const review = clients.authentication.createSelfSubjectReview({ body: {} });
  const { status } = await answered(clients, 'asked who you are', review);
  const to = granteeOf(status?.userInfo?.username ?? '');
  const needs = attachmentNeeds(names);
  const objects = rbacObjects(`${home.namespace}-attachments`, needs, { to, home });
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
    const [missing] = await missingRights(clients, needs);
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
 * The record of all that was seen in one trial. Rejects with the signal's reason alone; what else goes wrong
 * stands in the record.
 */
async function runTrial(
  context: TrialContext,
  template: ObjectTemplate,
  trial: ProbeTrial,
): Promise<TrialRecord> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  try {
    const own = new Trial({ ...context, signal }, template, trial);
    return own.finish(await own.play());
  } finally {
    over.abort();
  }
}

class Trial extends VolumePods<TrialRecord, TrialContext> {
  /** Lines of its writer, once more, the whole of them; none where it ended early. */
  async play(): Promise<readonly string[]> {
    const { variant } = this.record;
    let whole: readonly string[] = [];
    await this.noting('ended', async () => {
      await this.startWriting();
      if (variant === 'force-deleted') return this.playForced();
      if (variant === 'contested') await this.nextWaits();
      await this.detach();
      await this.watch();
      whole = await this.log('writer');
      if (variant !== 'contested') await this.readBack();
    });
    return whole;
  }

  private async startWriting(): Promise<void> {
    await this.startWriter();
    const { volume, attachment = '', variant } = this.record;
    await this.mustReachNext(volume);
    const attached = await this.ofWriter?.look();
    if (attached?.spec.source.persistentVolumeName !== volume) {
      throw refusal('NO_ATTACHMENT', `${volume} has no attachment ${attachment.slice(0, 12)}…`);
    }
    const isIdle = variant === 'idle';
    await this.steady(
      (lines) => (isIdle ? hasWord(lines, 'quiet') : lines.length >= steadyLines),
      `the pod ${this.pod('writer')} ${isIdle ? 'is quiet' : 'writes steadily'}`,
    );
  }

  /** What the provisioner made of a class decides. Throws as `mustReach` does. */
  async mustReachNext(name: string | undefined): Promise<void> {
    const { clients, nextLabels } = this.context;
    if (name === undefined) return;
    const volume = await orMissing(clients.core.readPersistentVolume({ name }));
    mustReach(volume, this.template.plan.nodes[1], nextLabels);
  }

  private startReader(): Promise<void> {
    return this.startNext(this.template.plan.horizonMs + readBackMs);
  }

  /** The next pod wants the volume before the detach: whoever is first after it has it. */
  private async nextWaits(): Promise<void> {
    const { view } = this.context;
    await this.startReader();
    const pod = this.pod('next');
    await view.until({ what: `the pod ${pod} waits for the volume`, timeoutMs: waitsMs }, () => {
      if (this.seen('next')?.runningMs !== undefined) {
        throw refusal('NEXT_IS_IN', `${pod} had the volume before any detach`);
      }
      const isBarred = view.eventsOf(pod).some(({ reason }) => reason === 'FailedAttachVolume');
      return isBarred || 'no event reports it yet';
    });
  }

  private async detach(): Promise<void> {
    const uid = (await this.ofWriter?.look())?.metadata?.uid;
    if (uid === undefined) {
      throw refusal('NO_ATTACHMENT', 'the attachment was gone before it was deleted');
    }
    Object.assign(this.record, await this.ofWriter?.remove(uid));
  }

  /** The attachment is left to Kubernetes. What the writer says after it is heard as long as its kubelet tells. */
  private async playForced(): Promise<void> {
    const { record } = this;
    const { horizonMs, besideForMs } = this.template.plan;
    const { signal, say } = this.context;
    Object.assign(record, await this.forceDelete());
    await this.startReader();
    const isRead = (): boolean =>
      nowMs() > (this.seen('next')?.runningMs ?? Infinity) + besideForMs;
    const endMs = (record.deleteAskedMs ?? 0) + horizonMs;
    while (nowMs() < endMs && !isRead()) await pause(500, signal);
    signal.throwIfAborted();
    record.watchEndedMs = nowMs();
    say(`${record.name}: watched`);
    // Its volume can go while the others are watched; what fails here goes with the namespace.
    if (isRead()) await this.delete('next').catch(() => undefined);
  }

  private async watch(): Promise<void> {
    const { record } = this;
    const { horizonMs } = this.template.plan;
    const { signal, say } = this.context;
    await pause((record.deleteAskedMs ?? nowMs()) + horizonMs - nowMs(), signal);
    signal.throwIfAborted();
    record.watchEndedMs = nowMs();
    say(`${record.name}: watched for ${horizonMs / 1000} s`);
  }

  /** What reached the disk, read on the other node once the writer is gone. */
  private async readBack(): Promise<void> {
    const { view } = this.context;
    await this.delete('writer');
    await this.noting('readBack', async () => {
      const gone = { what: `the pod ${this.pod('writer')} is gone`, timeoutMs: readBackMs };
      await view.until(
        gone,
        () => this.seen('writer')?.goneMs !== undefined || 'it is still there',
      );
      await this.startReader();
      const read = { what: 'the next pod has read the disk', timeoutMs: readBackMs };
      await view.until(
        read,
        () => hasWord(this.linesOf('next'), 'scan') || lastEvent(view, this.pod('next')),
      );
    });
  }
}
