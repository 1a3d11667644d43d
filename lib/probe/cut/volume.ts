/** One volume under the cut: its writer, its next pod, and the record of both. It judges nothing. */
import { orMissing } from '../../cluster/kind/kube.ts';
import { planOf } from '../plan.ts';
import { emptyJournal } from '../trials/journal.ts';
import { VolumePods, writerProgram, type PodsContext } from '../trials/volume-pods.ts';
import { journalFolder } from './host.ts';
import type { CutPlan } from './plan.ts';
import type { CutVolume } from './record.ts';

export interface CutContext extends PodsContext {
  readonly namespace: string;
  /** Names what is on the host. */
  readonly run: string;
  readonly plan: CutPlan;
  readonly say: (line: string) => void;
}

const steadyLines = 40;
/** A writer lives on after the heal: what it writes then is asked, too. */
const afterHealMs = 180_000;

type Draft = { -readonly [K in keyof CutVolume]: CutVolume[K] };

export class VolumeUnderCut {
  readonly #context: CutContext;
  readonly #draft: Draft;
  readonly #pods: VolumePods;

  constructor(context: CutContext, name: string, storageClass: string) {
    const { namespace, plan } = context;
    const { nodes, volumeMode, size, image, healAfterMs, writeEveryMs } = plan;
    const asked = { nodes, volumeMode, size, image, storageClass, trials: 1 };
    this.#context = context;
    this.#draft = {
      // As with a trial whose next pod comes while the first one holds the volume.
      ...{ name, storageClass, variant: 'contested', claim: name, attachments: [], events: [] },
      ...{ writerJournal: emptyJournal, nextJournal: emptyJournal },
    };
    const place = {
      ...{ namespace, program: writerProgram() },
      plan: { ...planOf({ ...asked, horizonMs: healAfterMs + afterHealMs }), writeEveryMs },
    };
    this.#pods = new VolumePods(context, place, this.#draft);
  }

  get writerPod(): string {
    return this.#pods.pod('writer');
  }

  async start(): Promise<void> {
    const folder = journalFolder(this.#context.run);
    Object.assign(this.#draft, await this.#pods.startWriter(folder));
    await this.#pods.steady(
      (lines) => lines.length >= steadyLines,
      `${this.writerPod} writes steadily`,
    );
  }

  /** While its node is away: nobody tells the pod, and nothing waits for it. */
  async forceDelete(): Promise<void> {
    const { clients, namespace } = this.#context;
    const gone = { name: this.writerPod, namespace, gracePeriodSeconds: 0 };
    await orMissing(clients.core.deleteNamespacedPod(gone));
  }

  async startNext(remedyMs: number): Promise<void> {
    this.#draft.deleteAskedMs = remedyMs;
    await this.#pods.create('next');
    const timeoutMs = this.#context.plan.healAfterMs + afterHealMs;
    void this.#pods.running('next', timeoutMs).catch(() => undefined);
  }

  /** `journal`: the writer's lines as its node kept them. */
  record(journal: readonly string[], endedMs: number): CutVolume {
    return Object.assign(this.#draft, this.#pods.seen(), this.#pods.endOfFirst(), {
      watchEndedMs: endedMs,
      writerJournal: this.#pods.journal('writer', journal),
      nextJournal: this.#pods.journal('next'),
    });
  }
}
