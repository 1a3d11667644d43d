/** One trial, step by step, and the record of all that was seen in it. It judges nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { InfrastructureError } from '../../errors.ts';
import { orMissing } from '../../kube.ts';
import { mustReach } from '../topology.ts';
import type { ProbeTrial } from '../trial-plan.ts';
import { emptyJournal } from './journal.ts';
import { containerName, type ObjectTemplate, type PodRole } from './objects.ts';
import type { TrialRecord } from './record.ts';
import { nowMs, whyOf } from './view.ts';
import { VolumePods, type PodsContext } from './volume-pods.ts';

export interface TrialContext extends PodsContext {
  readonly template: ObjectTemplate;
  readonly say: (line: string) => void;
  /** Labels of the next pod's node. */
  readonly nextLabels: Readonly<Record<string, string>>;
}

/** What the provisioner made of a class decides. Throws as `mustReach` does. */
export async function mustReachNext(
  { clients, template, nextLabels }: TrialContext,
  name: string | undefined,
): Promise<void> {
  if (name === undefined) return;
  const volume = await orMissing(clients.core.readPersistentVolume({ name }));
  mustReach(volume, template.plan.nodes[1], nextLabels);
}

/** A writer has written so often before anything is done to it. */
const steadyLines = 60;
/** Until Kubernetes says that the next pod must wait, or has let it in. */
const waitsMs = 60_000;
/** For the pod that reads what reached the disk. */
const readBackMs = 120_000;

type Draft = { -readonly [K in keyof TrialRecord]: TrialRecord[K] };

/** Rejects with the signal's reason alone; what else goes wrong stands in the record. */
export async function runTrial(context: TrialContext, trial: ProbeTrial): Promise<TrialRecord> {
  const draft: Draft = {
    ...{ name: trial.name, variant: trial.variant, claim: trial.name },
    ...{ attachments: [], events: [], writerJournal: emptyJournal, nextJournal: emptyJournal },
  };
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const run = new ProbeTrialRun({ ...context, signal }, trial, draft);
  try {
    await run.play();
  } catch (error) {
    context.signal.throwIfAborted();
    draft.ended = whyOf(error);
  } finally {
    over.abort();
  }
  run.finish();
  return draft;
}

class ProbeTrialRun {
  readonly #context: TrialContext;
  readonly #trial: ProbeTrial;
  readonly #draft: Draft;
  readonly #pods: VolumePods;
  /** The writer's whole log, read once more. */
  #whole: readonly string[] = [];

  constructor(context: TrialContext, trial: ProbeTrial, draft: Draft) {
    this.#context = context;
    this.#trial = trial;
    this.#draft = draft;
    this.#pods = new VolumePods(context, context.template, trial);
  }

  async play(): Promise<void> {
    const { plan } = this.#context.template;
    const isContested = this.#trial.variant === 'contested';
    await this.#startWriter();
    await this.#steady();
    if (this.#trial.variant === 'force-deleted') return this.#forceDelete();
    if (isContested) await this.#nextWaits();
    await this.#detach();
    await this.#watch(plan.horizonMs);
    this.#whole = await this.#readLog('writer');
    if (!isContested) await this.#readBack();
  }

  /** What was seen to the end, however it ended. */
  finish(): void {
    const draft = this.#draft;
    Object.assign(draft, this.#pods.seen());
    const end = this.#pods.endOfFirst();
    const isInTime = (end?.goneMs ?? Infinity) <= (draft.watchEndedMs ?? Infinity);
    if (end !== undefined && isInTime) Object.assign(draft, end);
    draft.writerJournal = this.#pods.journal('writer', this.#whole);
    draft.nextJournal = this.#pods.journal('next');
  }

  async #startWriter(): Promise<void> {
    const found = await this.#pods.startWriter();
    Object.assign(this.#draft, found);
    const { volume, attachment } = found;
    await mustReachNext(this.#context, volume);
    const attached = await this.#pods.ofWriter?.look();
    if (attached?.spec.source.persistentVolumeName === volume) return;
    throw new InfrastructureError(
      'NO_ATTACHMENT',
      `${volume} has no attachment ${attachment.slice(0, 12)}…`,
    );
  }

  async #startNext(): Promise<void> {
    await this.#pods.create('next');
    const timeoutMs = this.#context.template.plan.horizonMs + readBackMs;
    void this.#pods.running('next', timeoutMs).catch(() => undefined);
  }

  async #steady(): Promise<void> {
    const isIdle = this.#trial.variant === 'idle';
    const what = `the pod ${this.#pods.pod('writer')} ${isIdle ? 'is quiet' : 'writes steadily'}`;
    await this.#pods.steady(
      (lines) =>
        isIdle
          ? lines.some(({ line }) => line.split(' ')[1] === 'quiet')
          : lines.length >= steadyLines,
      what,
    );
  }

  /** The next pod wants the volume before the detach: whoever is first after it has it. */
  async #nextWaits(): Promise<void> {
    await this.#startNext();
    const pod = this.#pods.pod('next');
    const { view } = this.#context;
    await view.until({ what: `the pod ${pod} waits for the volume`, timeoutMs: waitsMs }, () => {
      const found = view.pod(pod);
      if (found?.seen.runningMs !== undefined) {
        throw new InfrastructureError('NEXT_IS_IN', `${pod} had the volume before any detach`);
      }
      return view.eventsOf(pod).some(({ reason }) => reason === 'FailedAttachVolume')
        ? true
        : 'no event reports it yet';
    });
  }

  async #detach(): Promise<void> {
    const attachments = this.#pods.ofWriter;
    const uid = (await attachments?.look())?.metadata?.uid;
    if (attachments === undefined || uid === undefined) {
      throw new InfrastructureError(
        'NO_ATTACHMENT',
        'the attachment was gone before it was deleted',
      );
    }
    const { askedMs, answeredMs } = await attachments.remove(uid);
    Object.assign(this.#draft, { deleteAskedMs: askedMs, deleteAnsweredMs: answeredMs });
  }

  /** The attachment is left to Kubernetes. What the writer says after it is heard as long as its kubelet tells. */
  async #forceDelete(): Promise<void> {
    const { clients, template, view, signal } = this.#context;
    const deleted = await this.#pods.forceDelete();
    Object.assign(this.#draft, deleted);
    await this.#startNext();
    const pod = this.#pods.pod('next');
    const { horizonMs, besideForMs } = template.plan;
    const isRead = (): boolean =>
      nowMs() > (view.pod(pod)?.seen.runningMs ?? Infinity) + besideForMs;
    const endMs = deleted.deleteAskedMs + horizonMs;
    while (nowMs() < endMs && !isRead()) await sleep(500, undefined, { signal });
    this.#draft.watchEndedMs = nowMs();
    this.#context.say(`${this.#trial.name}: watched`);
    // Its volume can go while the others are watched; what fails here goes with the namespace.
    const named = { name: pod, namespace: template.namespace };
    if (isRead()) await clients.core.deleteNamespacedPod(named).catch(() => undefined);
  }

  async #watch(horizonMs: number): Promise<void> {
    const beganMs = this.#draft.deleteAskedMs ?? nowMs();
    const { signal } = this.#context;
    await sleep(Math.max(0, beganMs + horizonMs - nowMs()), undefined, { signal });
    this.#draft.watchEndedMs = nowMs();
    this.#context.say(`${this.#trial.name}: watched for ${horizonMs / 1000} s`);
  }

  /** What reached the disk, read on the other node once the writer is gone. */
  async #readBack(): Promise<void> {
    const { clients, template, view } = this.#context;
    const pod = this.#pods.pod('writer');
    await clients.core.deleteNamespacedPod({ name: pod, namespace: template.namespace });
    const gone = { what: `the pod ${pod} is gone`, timeoutMs: readBackMs };
    try {
      await view.until(gone, () => view.pod(pod)?.seen.goneMs !== undefined || 'it is still there');
      await this.#startNext();
      const read = { what: 'the next pod has read the disk', timeoutMs: readBackMs };
      await view.until(read, () => {
        const lines = this.#pods.linesOf('next');
        if (lines.some(({ line }) => line.split(' ')[1] === 'scan')) return true;
        return this.#pods.lastEvent(this.#pods.pod('next')) ?? 'no event yet';
      });
    } catch (error) {
      this.#context.signal.throwIfAborted();
      this.#draft.readBack = whyOf(error);
    }
  }

  async #readLog(role: PodRole): Promise<readonly string[]> {
    const { clients, template } = this.#context;
    const named = { name: this.#pods.pod(role), namespace: template.namespace };
    const text = await clients.core.readNamespacedPodLog({ ...named, container: containerName });
    return text.split('\n').filter(Boolean);
  }
}
