/** One volume, the pod that writes to it and the next one: made, followed, and what was seen of both. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreV1Api, V1Pod } from '@kubernetes/client-node';
import { orMissing } from '../../kube.ts';
import { InfrastructureError } from '../../errors.ts';
import type { ProbeClients } from '../clients.ts';
import type { ProbeTrial } from '../trial-plan.ts';
import { AttachmentWatch } from './attachment-watch.ts';
import { type Came, clockOffsetOf, type Followed, followLog } from './follow-log.ts';
import { type PodJournal, readJournal } from './journal.ts';
import {
  attachmentName,
  claimObject,
  type ObjectTemplate,
  podName,
  podObject,
  type PodRole,
} from './objects.ts';
import type { TrialRecord } from './record.ts';
import { mustStart, nowMs, type View } from './view.ts';

/** Text of what runs in the pods. */
export const writerProgram = (): string =>
  readFileSync(new URL('../pod/writer.mjs', import.meta.url), 'utf8');

export interface PodsContext {
  readonly clients: ProbeClients;
  readonly view: View;
  readonly signal: AbortSignal;
}

/** A volume is made, attached and mounted, an image pulled. */
export const startMs = 240_000;
const steadyMs = 60_000;

type PodObservations = Pick<
  TrialRecord,
  | 'writer'
  | 'next'
  | 'events'
  | 'attachments'
  | 'nextAttachment'
  | 'clockOffsetMs'
  | 'clockErrorMs'
  | 'nextClockOffsetMs'
>;

export class VolumePods {
  readonly #context: PodsContext;
  readonly #template: ObjectTemplate;
  readonly #trial: ProbeTrial;
  readonly #logs = new Map<PodRole, Followed>();
  /** Attachments of the writer's node and of the next one's; from the writer's start on. */
  ofWriter: AttachmentWatch | undefined;
  #ofNext: AttachmentWatch | undefined;

  constructor(context: PodsContext, template: ObjectTemplate, trial: ProbeTrial) {
    this.#context = context;
    this.#template = template;
    this.#trial = trial;
  }

  readonly pod = (role: PodRole): string => podName(this.#trial, role);
  readonly linesOf = (role: PodRole): readonly Came[] => this.#logs.get(role)?.lines ?? [];

  /** Until it runs with its volume attached. `journalFolder`: as of `podObject`. */
  async startWriter(
    journalFolder?: string,
  ): Promise<Required<Pick<TrialRecord, 'volume' | 'handle' | 'attachment'>>> {
    const { clients, view } = this.#context;
    const { namespace, plan } = this.#template;
    if (this.#template.isProvisioned !== true) {
      const body = claimObject(this.#template, this.#trial);
      await clients.core.createNamespacedPersistentVolumeClaim({ namespace, body });
    }
    await this.create('writer', journalFolder);
    await this.running('writer', startMs);
    const volume = view.claim(this.#trial.name)?.spec?.volumeName ?? '';
    const read = await orMissing(clients.core.readPersistentVolume({ name: volume }));
    const { driver = '', volumeHandle: handle = '' } = read?.spec?.csi ?? {};
    const [a, b] = plan.nodes;
    this.ofWriter = this.#attachmentsOf(attachmentName(handle, driver, a));
    this.#ofNext = this.#attachmentsOf(attachmentName(handle, driver, b));
    return { volume, handle, attachment: this.ofWriter.name };
  }

  #attachmentsOf(name: string): AttachmentWatch {
    const attachments = new AttachmentWatch(this.#context.clients, name, this.#context.signal);
    void attachments.run();
    return attachments;
  }

  async create(role: PodRole, journalFolder?: string): Promise<void> {
    const { clients, signal } = this.#context;
    const pod = podObject(this.#template, this.#trial, role, journalFolder);
    await createPod(clients.core, this.#template.namespace, pod, signal);
  }

  /** Follows what it says from then on. Throws InfrastructureError `PROBE_POD`, and as `View.until`. */
  async running(role: PodRole, timeoutMs: number): Promise<void> {
    const { view, clients, signal } = this.#context;
    const pod = this.pod(role);
    await view.until({ what: `the pod ${pod} runs`, timeoutMs }, () => {
      const found = view.pod(pod);
      if (found?.seen.runningMs !== undefined) return true;
      mustStart(pod, found?.pod);
      return this.lastEvent(pod) ?? this.lastEvent(this.#trial.name) ?? 'no event yet';
    });
    const { namespace } = this.#template;
    this.#logs.set(role, followLog({ config: clients.config, namespace, pod, signal }));
  }

  /** The API has no writer any more; its node is told nothing. Throws as the API does. */
  async forceDelete(): Promise<Required<Pick<TrialRecord, 'deleteAskedMs' | 'deleteAnsweredMs'>>> {
    const { core } = this.#context.clients;
    const pod = { name: this.pod('writer'), namespace: this.#template.namespace };
    const deleteAskedMs = nowMs();
    await orMissing(core.deleteNamespacedPod({ ...pod, gracePeriodSeconds: 0 }));
    return { deleteAskedMs, deleteAnsweredMs: nowMs() };
  }

  lastEvent(of: string): string | undefined {
    const last = this.#context.view.eventsOf(of).at(-1);
    return last === undefined ? undefined : `${last.reason}: ${last.message}`;
  }

  /** Throws InfrastructureError `PROBE_WRITER` where it can't write, and as `View.until`. */
  async steady(isReady: (lines: readonly Came[]) => boolean, what: string): Promise<void> {
    await this.#context.view.until({ what, timeoutMs: steadyMs }, () => {
      const lines = this.linesOf('writer');
      const failed = lines.find(({ line }) => line.split(' ')[1] === 'fail');
      if (failed !== undefined) {
        throw new InfrastructureError('PROBE_WRITER', `the writer reports ${failed.line}`, {
          hint: 'if it is ENOSPC, a longer watch needs larger volumes (--size)',
        });
      }
      return isReady(lines) || `it has written ${lines.length} lines`;
    });
  }

  journal(role: PodRole, more: readonly string[] = []): PodJournal {
    return readJournal([...more, ...this.linesOf(role).map(({ line }) => line)]);
  }

  /** So far. */
  seen(): PodObservations {
    const { view } = this.#context;
    const [writer, next] = [view.pod(this.pod('writer')), view.pod(this.pod('next'))];
    const nextAttachment = this.#ofNext?.seen.at(-1);
    const [clock, nextClock] = [
      clockOffsetOf(this.linesOf('writer')),
      clockOffsetOf(this.linesOf('next')),
    ];
    const names = [this.#trial.name, this.pod('writer'), this.pod('next')];
    return {
      ...(writer !== undefined && { writer: writer.seen }),
      ...(next !== undefined && { next: next.seen }),
      events: view.events.filter(({ pod }) => names.includes(pod)),
      attachments: this.ofWriter?.seen ?? [],
      ...(nextAttachment !== undefined && { nextAttachment }),
      ...(clock !== undefined && { clockOffsetMs: clock.offsetMs, clockErrorMs: clock.errorMs }),
      ...(nextClock !== undefined && { nextClockOffsetMs: nextClock.offsetMs }),
    };
  }

  /** End of the writer's first attachment. */
  endOfFirst(): { readonly thereUntilMs: number; readonly goneMs: number } | undefined {
    const [first] = this.ofWriter?.seen ?? [];
    return first === undefined ? undefined : this.ofWriter?.endOf(first.uid);
  }
}

const createEveryMs = 500;
const createTries = 60;

/** Throws as the API does, once half a minute was in vain. */
export async function createPod(
  core: CoreV1Api,
  namespace: string,
  body: V1Pod,
  signal: AbortSignal,
): Promise<void> {
  for (let left = createTries; ; left -= 1) {
    try {
      await core.createNamespacedPod({ namespace, body });
      return;
    } catch (error) {
      if (left === 0 || !String(error).includes('serviceaccount')) throw error;
      await sleep(createEveryMs, undefined, { signal });
    }
  }
}
