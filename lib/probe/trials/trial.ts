/** One trial, step by step, and the record of all that was seen in it. It judges nothing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { orMissing } from '../../cluster/kind/kube.ts';
import { InfrastructureError } from '../../errors.ts';
import type { ProbeClients } from '../clients.ts';
import type { Trial } from '../plan.ts';
import { Attachments } from './attachments.ts';
import { clockOf, followLog, type Came, type Followed } from './follow-log.ts';
import { emptyJournal, readJournal, type Journal } from './journal.ts';
import {
  attachmentName,
  claimObject,
  containerName,
  podName,
  podObject,
  type Place,
  type Role,
} from './objects.ts';
import type { TrialRecord } from './record.ts';
import { createPod } from './create-pod.ts';
import { nowMs, vainPod, whyOf, type View } from './view.ts';

export interface TrialContext {
  readonly clients: ProbeClients;
  readonly place: Place;
  readonly view: View;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** A volume is made, attached and mounted, an image pulled. */
const startMs = 240_000;
const steadyMs = 60_000;
/** A writer has written so often before anything is done to it. */
const steadyLines = 60;
/** Until Kubernetes says that the next pod must wait, or has let it in. */
const waitsMs = 30_000;
/** For the pod that reads what reached the disk. */
const readBackMs = 120_000;

type Draft = { -readonly [K in keyof TrialRecord]: TrialRecord[K] };

/** Rejects with the signal's reason alone; what else goes wrong stands in the record. */
export async function runTrial(context: TrialContext, trial: Trial): Promise<TrialRecord> {
  const draft: Draft = {
    ...{ name: trial.name, variant: trial.variant, claim: trial.name },
    ...{ attachments: [], events: [], writerJournal: emptyJournal, nextJournal: emptyJournal },
  };
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const run = new TrialRun({ ...context, signal }, trial, draft);
  try {
    await run.play();
  } catch (error) {
    context.signal.throwIfAborted();
    draft.ended = whyOf(error);
  } finally {
    over.abort();
  }
  await run.finish();
  return draft;
}

class TrialRun {
  readonly #context: TrialContext;
  readonly #trial: Trial;
  readonly #draft: Draft;
  readonly #logs = new Map<Role, Followed>();
  #ofWriter: Attachments | undefined;
  #ofNext: Attachments | undefined;
  /** The writer's whole log, read once more. */
  #whole: readonly string[] = [];

  constructor(context: TrialContext, trial: Trial, draft: Draft) {
    this.#context = context;
    this.#trial = trial;
    this.#draft = draft;
  }

  async play(): Promise<void> {
    const { plan } = this.#context.place;
    const isContested = this.#trial.variant === 'contested';
    await this.#startWriter();
    await this.#steady();
    if (isContested) await this.#nextWaits();
    await this.#detach();
    await this.#watch(plan.horizonMs);
    this.#whole = await this.#readLog('writer');
    if (!isContested) await this.#readBack();
  }

  /** What was seen to the end, however it ended. */
  async finish(): Promise<void> {
    const draft = this.#draft;
    const { view } = this.#context;
    const [writerPod, nextPod] = [view.pod(this.#pod('writer')), view.pod(this.#pod('next'))];
    if (writerPod !== undefined) draft.writer = writerPod.seen;
    if (nextPod !== undefined) draft.next = nextPod.seen;
    draft.events = view.events.filter(({ pod }) =>
      [this.#trial.name, this.#pod('writer'), this.#pod('next')].includes(pod),
    );
    const [first] = this.#ofWriter?.seen ?? [];
    draft.attachments = this.#ofWriter?.seen ?? [];
    const end = first === undefined ? undefined : this.#ofWriter?.endOf(first.uid);
    const isInTime = (end?.goneMs ?? Infinity) <= (draft.watchEndedMs ?? Infinity);
    if (end !== undefined && isInTime) Object.assign(draft, end);
    const nextAttachment = this.#ofNext?.seen.at(-1);
    if (nextAttachment !== undefined) draft.nextAttachment = nextAttachment;
    draft.writerJournal = this.#journal('writer', this.#whole);
    draft.nextJournal = this.#journal('next');
    const clock = clockOf(this.#linesOf('writer'));
    if (clock !== undefined) {
      Object.assign(draft, { clockOffsetMs: clock.offsetMs, clockErrorMs: clock.errorMs });
    }
    const nextClock = clockOf(this.#linesOf('next'));
    if (nextClock !== undefined) draft.nextClockOffsetMs = nextClock.offsetMs;
  }

  async #startWriter(): Promise<void> {
    const { clients, place } = this.#context;
    const { namespace } = place;
    const body = claimObject(place, this.#trial);
    await clients.core.createNamespacedPersistentVolumeClaim({ namespace, body });
    await this.#start('writer');
    await this.#running('writer', startMs);
    const volume = this.#context.view.claim(this.#trial.name)?.spec?.volumeName ?? '';
    const read = await orMissing(clients.core.readPersistentVolume({ name: volume }));
    const { driver = '', volumeHandle: handle = '' } = read?.spec?.csi ?? {};
    const [a, b] = place.plan.nodes;
    const name = attachmentName(handle, driver, a);
    Object.assign(this.#draft, { volume, handle, attachment: name });
    this.#ofWriter = this.#attachmentsOf(name);
    this.#ofNext = this.#attachmentsOf(attachmentName(handle, driver, b));
    const found = await this.#ofWriter.look();
    if (found?.spec.source.persistentVolumeName === volume) return;
    throw new InfrastructureError(
      'NO_ATTACHMENT',
      `${volume} has no attachment ${name.slice(0, 12)}…`,
    );
  }

  #attachmentsOf(name: string): Attachments {
    const attachments = new Attachments(this.#context.clients, name, this.#context.signal);
    void attachments.run();
    return attachments;
  }

  async #start(role: Role): Promise<void> {
    const { clients, place, signal } = this.#context;
    await createPod(clients.core, place.namespace, podObject(place, this.#trial, role), signal);
    if (role === 'next') void this.#followOnceItRuns();
  }

  async #followOnceItRuns(): Promise<void> {
    await this.#running('next', this.#context.place.plan.horizonMs + readBackMs).catch(
      () => undefined,
    );
  }

  async #running(role: Role, timeoutMs: number): Promise<void> {
    const { view, clients, place, signal } = this.#context;
    const pod = this.#pod(role);
    await view.until({ what: `the pod ${pod} runs`, timeoutMs }, () => {
      const found = view.pod(pod);
      if (found?.seen.runningMs !== undefined) return true;
      const vain = found === undefined ? undefined : vainPod(found.pod);
      if (vain !== undefined) {
        throw new InfrastructureError('PROBE_POD', `the pod ${pod} does not start: ${vain}`, {
          hint: 'it needs an image with Node 20 or later; name another one with --image',
        });
      }
      return this.#lastEvent(pod) ?? this.#lastEvent(this.#trial.name) ?? 'no event yet';
    });
    const { namespace } = place;
    this.#logs.set(role, followLog({ config: clients.config, namespace, pod, signal }));
  }

  #lastEvent(of: string): string | undefined {
    const last = this.#context.view.eventsOf(of).at(-1);
    return last === undefined ? undefined : `${last.reason}: ${last.message}`;
  }

  async #steady(): Promise<void> {
    const isIdle = this.#trial.variant === 'idle';
    const what = `the pod ${this.#pod('writer')} ${isIdle ? 'is quiet' : 'writes steadily'}`;
    await this.#context.view.until({ what, timeoutMs: steadyMs }, () => {
      const lines = this.#linesOf('writer');
      const failed = lines.find(({ line }) => line.split(' ')[1] === 'fail');
      if (failed !== undefined)
        throw new InfrastructureError('PROBE_WRITER', `it says ${failed.line}`);
      const isReady = isIdle
        ? lines.some(({ line }) => line.split(' ')[1] === 'quiet')
        : lines.length >= steadyLines;
      return isReady || `${lines.length} lines came of it`;
    });
  }

  /** The next pod wants the volume before the detach: whoever is first after it has it. */
  async #nextWaits(): Promise<void> {
    await this.#start('next');
    const pod = this.#pod('next');
    const { view } = this.#context;
    await view.until({ what: `the pod ${pod} waits for the volume`, timeoutMs: waitsMs }, () => {
      const found = view.pod(pod);
      if (found?.seen.runningMs !== undefined) {
        throw new InfrastructureError('NEXT_IS_IN', `${pod} had the volume before any detach`);
      }
      return view.eventsOf(pod).some(({ reason }) => reason === 'FailedAttachVolume')
        ? true
        : 'nobody has said so';
    });
  }

  async #detach(): Promise<void> {
    const attachments = this.#ofWriter;
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

  async #watch(horizonMs: number): Promise<void> {
    const beganMs = this.#draft.deleteAskedMs ?? nowMs();
    const { signal } = this.#context;
    await sleep(Math.max(0, beganMs + horizonMs - nowMs()), undefined, { signal });
    this.#draft.watchEndedMs = nowMs();
    this.#context.say(`${this.#trial.name}: watched for ${horizonMs / 1000} s`);
  }

  /** What reached the disk, read on the other node once the writer is gone. */
  async #readBack(): Promise<void> {
    const { clients, place, view } = this.#context;
    const pod = this.#pod('writer');
    await clients.core.deleteNamespacedPod({ name: pod, namespace: place.namespace });
    const gone = { what: `the pod ${pod} is gone`, timeoutMs: readBackMs };
    try {
      await view.until(gone, () => view.pod(pod)?.seen.goneMs !== undefined || 'it is still there');
      await this.#start('next');
      const read = { what: 'the next pod has read the disk', timeoutMs: readBackMs };
      await view.until(read, () => {
        const lines = this.#linesOf('next');
        if (lines.some(({ line }) => line.split(' ')[1] === 'scan')) return true;
        return this.#lastEvent(this.#pod('next')) ?? 'no event yet';
      });
    } catch (error) {
      this.#context.signal.throwIfAborted();
      this.#draft.readBack = whyOf(error);
    }
  }

  async #readLog(role: Role): Promise<readonly string[]> {
    const { clients, place } = this.#context;
    const named = { name: this.#pod(role), namespace: place.namespace };
    const text = await clients.core.readNamespacedPodLog({ ...named, container: containerName });
    return text.split('\n').filter(Boolean);
  }

  #journal(role: Role, more: readonly string[] = []): Journal {
    return readJournal([...more, ...this.#linesOf(role).map(({ line }) => line)]);
  }

  #linesOf = (role: Role): readonly Came[] => this.#logs.get(role)?.lines ?? [];
  #pod = (role: Role): string => podName(this.#trial, role);
}
