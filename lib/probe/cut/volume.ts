/** One volume under the cut: its writer, its next pod, and the record of both. It judges nothing. */
import { readFileSync } from 'node:fs';
import { orMissing } from '../../cluster/kind/kube.ts';
import type { ProbeClients } from '../clients.ts';
import { planOf } from '../plan.ts';
import { Attachments } from '../trials/attachments.ts';
import { createPod } from '../trials/create-pod.ts';
import { clockOf, followLog, type Came, type Followed } from '../trials/follow-log.ts';
import { emptyJournal, readJournal } from '../trials/journal.ts';
import { attachmentName, claimObject, podName, podObject, type Place } from '../trials/objects.ts';
import { vainPod, type View } from '../trials/view.ts';
import { InfrastructureError } from '../../errors.ts';
import { journalFolder } from './host.ts';
import type { CutPlan } from './plan.ts';
import type { CutVolume } from './record.ts';

export interface CutContext {
  readonly clients: ProbeClients;
  readonly namespace: string;
  readonly plan: CutPlan;
  readonly view: View;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const startMs = 240_000;
const steadyMs = 60_000;
const steadyLines = 40;
/** A writer lives on after the heal: what it writes then is asked, too. */
const afterHealMs = 180_000;

const program = (): string => readFileSync(new URL('../pod/writer.mjs', import.meta.url), 'utf8');

type Draft = { -readonly [K in keyof CutVolume]: CutVolume[K] };

export class VolumeUnderCut {
  readonly #context: CutContext;
  readonly #place: Place;
  readonly #draft: Draft;
  #writer: Followed | undefined;
  #next: Followed | undefined;
  #ofWriter: Attachments | undefined;
  #ofNext: Attachments | undefined;

  constructor(context: CutContext, name: string, storageClass: string) {
    const { namespace, plan } = context;
    const { nodes, volumeMode, size, image, healAfterMs, writeEveryMs } = plan;
    const asked = { nodes, volumeMode, size, image, storageClass, trials: 1 };
    this.#context = context;
    this.#place = {
      ...{ namespace, program: program() },
      plan: { ...planOf({ ...asked, horizonMs: healAfterMs + afterHealMs }), writeEveryMs },
    };
    this.#draft = {
      // As with a trial whose next pod comes while the first one holds the volume.
      ...{ name, storageClass, variant: 'contested', claim: name, attachments: [], events: [] },
      ...{ writerJournal: emptyJournal, nextJournal: emptyJournal },
    };
  }

  get writerPod(): string {
    return podName(this.#draft, 'writer');
  }

  async start(): Promise<void> {
    const { clients, namespace, signal, view, plan } = this.#context;
    const body = claimObject(this.#place, this.#draft);
    await clients.core.createNamespacedPersistentVolumeClaim({ namespace, body });
    const folder = journalFolder(namespace);
    const pod = podObject(this.#place, this.#draft, 'writer', folder);
    await createPod(clients.core, namespace, pod, signal);
    this.#writer = await this.#running(this.writerPod, startMs);
    const volume = view.claim(this.#draft.claim)?.spec?.volumeName ?? '';
    const read = await orMissing(clients.core.readPersistentVolume({ name: volume }));
    const { driver = '', volumeHandle: handle = '' } = read?.spec?.csi ?? {};
    const [a, b] = plan.nodes;
    this.#ofWriter = this.#attachments(attachmentName(handle, driver, a));
    this.#ofNext = this.#attachments(attachmentName(handle, driver, b));
    Object.assign(this.#draft, { volume, handle, attachment: this.#ofWriter.name });
    const what = `${this.writerPod} writes steadily`;
    await view.until({ what, timeoutMs: steadyMs }, () => {
      const lines = this.#writer?.lines ?? [];
      return lines.length >= steadyLines || `${lines.length} lines came of it`;
    });
  }

  #attachments(name: string): Attachments {
    const attachments = new Attachments(this.#context.clients, name, this.#context.signal);
    void attachments.run();
    return attachments;
  }

  /** While its node is away: nobody tells the pod, and nothing waits for it. */
  async forceDelete(): Promise<void> {
    const { clients, namespace } = this.#context;
    const gone = { name: this.writerPod, namespace, gracePeriodSeconds: 0 };
    await orMissing(clients.core.deleteNamespacedPod(gone));
  }

  async startNext(remedyMs: number): Promise<void> {
    const { clients, namespace, signal } = this.#context;
    this.#draft.deleteAskedMs = remedyMs;
    const pod = podObject(this.#place, this.#draft, 'next');
    await createPod(clients.core, namespace, pod, signal);
    const timeoutMs = this.#context.plan.healAfterMs + afterHealMs;
    const whenItRuns = this.#running(podName(this.#draft, 'next'), timeoutMs);
    void whenItRuns.then((followed) => (this.#next = followed)).catch(() => undefined);
  }

  async #running(pod: string, timeoutMs: number): Promise<Followed> {
    const { view, clients, namespace, signal } = this.#context;
    await view.until({ what: `the pod ${pod} runs`, timeoutMs }, () => {
      const found = view.pod(pod);
      if (found?.seen.runningMs !== undefined) return true;
      const vain = found === undefined ? undefined : vainPod(found.pod);
      if (vain !== undefined) {
        throw new InfrastructureError('PROBE_POD', `the pod ${pod} does not start: ${vain}`, {
          hint: 'it needs an image with Node 20 or later, and nsenter; name another one with --image',
        });
      }
      const last = [...view.eventsOf(this.#draft.claim), ...view.eventsOf(pod)].at(-1);
      return last === undefined ? 'no event yet' : `${last.reason}: ${last.message}`;
    });
    return followLog({ config: clients.config, namespace, pod, signal });
  }

  /** `journal`: the writer's lines as its node kept them. */
  record(journal: readonly string[], endedMs: number): CutVolume {
    const draft = this.#draft;
    const { view } = this.#context;
    const [writer, next] = [view.pod(this.writerPod), view.pod(podName(draft, 'next'))];
    if (writer !== undefined) draft.writer = writer.seen;
    if (next !== undefined) draft.next = next.seen;
    const names = [draft.claim, this.writerPod, podName(draft, 'next')];
    draft.events = view.events.filter(({ pod }) => names.includes(pod));
    draft.attachments = this.#ofWriter?.seen ?? [];
    const [first] = draft.attachments;
    Object.assign(draft, first === undefined ? {} : this.#ofWriter?.endOf(first.uid));
    const nextAttachment = this.#ofNext?.seen.at(-1);
    if (nextAttachment !== undefined) draft.nextAttachment = nextAttachment;
    draft.watchEndedMs = endedMs;
    draft.writerJournal = readJournal([...journal, ...textOf(this.#writer?.lines)]);
    draft.nextJournal = readJournal(textOf(this.#next?.lines));
    const clock = clockOf(this.#writer?.lines ?? []);
    if (clock !== undefined) {
      Object.assign(draft, { clockOffsetMs: clock.offsetMs, clockErrorMs: clock.errorMs });
    }
    const nextClock = clockOf(this.#next?.lines ?? []);
    if (nextClock !== undefined) draft.nextClockOffsetMs = nextClock.offsetMs;
    return draft;
  }
}

const textOf = (lines: readonly Came[] = []): string[] => lines.map(({ line }) => line);
