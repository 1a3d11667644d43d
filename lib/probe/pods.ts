/** One volume, the pod that writes to it and the next one: made, followed, and what was seen of both. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CoreV1Api, V1Pod } from '@kubernetes/client-node';
import { orMissing, type UserClients } from '../core/index.ts';
import {
  type ObjectTemplate,
  type PodRole,
  attachmentName,
  claimObject,
  containerName,
  podName,
  podObject,
} from './objects.ts';
import {
  AttachmentWatch,
  type Came,
  clockErrorMs,
  clockOffsetOf,
  followLog,
  nowMs,
  untilRunning,
  type View,
  whyOf,
} from './view.ts';
import {
  type DraftOf,
  type PodJournal,
  type PodSeen,
  type TrialRecord,
  emptyJournal,
  readJournal,
} from './judge/record.ts';
import { refusal } from './refusals.ts';

export const writerProgram = (): string =>
  readFileSync(new URL('./pod/writer.mjs', import.meta.url), 'utf8');

export interface PodsContext {
  readonly clients: UserClients;
  readonly view: View;
  readonly signal: AbortSignal;
}

export const startMs = 240_000;
const steadyMs = 60_000;

export const hasWord = (lines: readonly Came[], word: string): boolean =>
  lines.some(({ line }) => line.split(' ')[1] === word);

export class VolumePods<
  Seen extends TrialRecord = TrialRecord,
  Context extends PodsContext = PodsContext,
> {
  readonly record: DraftOf<Seen>;
  readonly context: Context;
  readonly template: ObjectTemplate;
  readonly #logs = new Map<PodRole, readonly Came[]>();
  /** Attachments of the writer's node and of the next one's; from the writer's start on. */
  ofWriter: AttachmentWatch | undefined;
  #ofNext: AttachmentWatch | undefined;

  constructor(
    context: Context,
    template: ObjectTemplate,
    trial: Pick<TrialRecord, 'name' | 'variant'> & Omit<Seen, keyof TrialRecord>,
  ) {
    this.context = context;
    this.template = template;
    this.record = {
      ...{ ...trial, claim: trial.name, attachments: [], events: [] },
      ...{ writerJournal: emptyJournal, nextJournal: emptyJournal },
    } as unknown as DraftOf<Seen>;
  }

  readonly pod = (role: PodRole): string => podName(this.record, role);
  readonly linesOf = (role: PodRole): readonly Came[] => this.#logs.get(role) ?? [];
  readonly seen = (role: PodRole): PodSeen | undefined =>
    this.context.view.pod(this.pod(role))?.seen;

  /** What goes wrong in `work` stands in the record. Throws the signal's reason alone. */
  async noting(field: 'ended' | 'readBack', work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.context.signal.throwIfAborted();
      this.record[field] = whyOf(error);
    }
  }

  private named(role: PodRole): { readonly name: string; readonly namespace: string } {
    return { name: this.pod(role), namespace: this.template.namespace };
  }

  async claim(): Promise<void> {
    const { namespace } = this.template;
    const body = claimObject(this.template, this.record);
    const { core } = this.context.clients;
    await core.createNamespacedPersistentVolumeClaim({ namespace, body });
  }

  async delete(role: PodRole, how: { readonly gracePeriodSeconds?: number } = {}): Promise<void> {
    await this.context.clients.core.deleteNamespacedPod({ ...this.named(role), ...how });
  }

  async log(role: PodRole): Promise<readonly string[]> {
    const logged = { ...this.named(role), container: containerName };
    return (await this.context.clients.core.readNamespacedPodLog(logged))
      .split('\n')
      .filter(Boolean);
  }

  /** Until it runs with its volume attached. `journalFolder`: as of `podObject`. */
  async startWriter(journalFolder?: string): Promise<void> {
    const { clients, view, signal } = this.context;
    const { plan, isProvisioned } = this.template;
    if (isProvisioned !== true) await this.claim();
    await this.create('writer', journalFolder);
    await this.running('writer', startMs);
    const volume = view.claim(this.record.name)?.spec?.volumeName ?? '';
    const read = await orMissing(clients.core.readPersistentVolume({ name: volume }));
    const { driver = '', volumeHandle: handle = '' } = read?.spec?.csi ?? {};
    const [writer, next] = plan.nodes.map(
      (node) => new AttachmentWatch(clients, attachmentName(handle, driver, node), signal),
    );
    this.ofWriter = writer;
    this.#ofNext = next;
    Object.assign(this.record, { volume, handle, attachment: writer?.name });
  }

  async create(role: PodRole, journalFolder?: string): Promise<void> {
    const { clients, signal } = this.context;
    const pod = podObject(this.template, this.record, role, journalFolder);
    await createPod(clients.core, this.template.namespace, pod, signal);
  }

  /** Follows what it says from then on. Throws InfrastructureError `PROBE_POD`, and as `View.until`. */
  async running(role: PodRole, timeoutMs: number): Promise<void> {
    const { view, clients, signal } = this.context;
    const pod = this.pod(role);
    await untilRunning(view, pod, timeoutMs, this.record.name);
    const { namespace } = this.template;
    this.#logs.set(role, followLog(clients, { namespace, pod, signal }));
  }

  /** It may have to wait for the volume, and for so long is followed once it has it. */
  async startNext(timeoutMs: number): Promise<void> {
    await this.create('next');
    void this.running('next', timeoutMs).catch(() => undefined);
  }

  async forceDelete(): Promise<Required<Pick<TrialRecord, 'deleteAskedMs' | 'deleteAnsweredMs'>>> {
    const deleteAskedMs = nowMs();
    await orMissing(this.delete('writer', { gracePeriodSeconds: 0 }));
    return { deleteAskedMs, deleteAnsweredMs: nowMs() };
  }

  /** Throws InfrastructureError `PROBE_WRITER` where it can't write, and as `View.until`. */
  async steady(isReady: (lines: readonly Came[]) => boolean, what: string): Promise<void> {
    await this.context.view.until({ what, timeoutMs: steadyMs }, () => {
      const lines = this.linesOf('writer');
      const failed = lines.find(({ line }) => line.split(' ')[1] === 'fail');
      if (failed !== undefined) {
        throw refusal('PROBE_WRITER', `the writer reports ${failed.line}`);
      }
      return isReady(lines) || `it has written ${lines.length} lines`;
    });
  }

  /** What was seen to the end, however it ended. `lines`: of the writer, from where else they are. */
  finish(lines: readonly string[]): Seen {
    const { view } = this.context;
    const { record } = this;
    const [writer, next] = [this.seen('writer'), this.seen('next')];
    const nextAttachment = this.#ofNext?.seen.at(-1);
    const clockOffsetMs = clockOffsetOf(this.linesOf('writer'));
    const nextClockOffsetMs = clockOffsetOf(this.linesOf('next'));
    const end = this.ofWriter?.firstEnd;
    const isInTime = (end?.goneMs ?? Infinity) <= (record.watchEndedMs ?? Infinity);
    const names = [record.name, this.pod('writer'), this.pod('next')];
    const journal = (role: PodRole, more: readonly string[] = []): PodJournal =>
      readJournal([...more, ...this.linesOf(role).map(({ line }) => line)]);
    return Object.assign(record, {
      ...(writer !== undefined && { writer }),
      ...(next !== undefined && { next }),
      events: view.events.filter(({ pod }) => names.includes(pod)),
      attachments: this.ofWriter?.seen ?? [],
      ...(nextAttachment !== undefined && { nextAttachment }),
      ...(clockOffsetMs !== undefined && { clockOffsetMs, clockErrorMs }),
      ...(nextClockOffsetMs !== undefined && { nextClockOffsetMs }),
      ...(isInTime && end),
      writerJournal: journal('writer', lines),
      nextJournal: journal('next'),
    });
  }
}

const createEveryMs = 500;
const createTries = 60;

/** A new namespace has no account at first. Throws as the API does, once half a minute was in vain. */
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
