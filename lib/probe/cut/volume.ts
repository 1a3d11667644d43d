/** One volume under the cut: its writer, its next pod, and the record of both. It judges nothing. */
import { InfrastructureError } from '../../errors.ts';
import { trialPlanOf } from '../trial-plan.ts';
import { emptyJournal } from '../trials/journal.ts';
import { whyOf } from '../trials/view.ts';
import type { ObjectTemplate } from '../trials/objects.ts';
import { ownerNow } from '../trials/namespace.ts';
import { startMs, VolumePods, writerProgram, type PodsContext } from '../trials/volume-pods.ts';
import { journalFolder } from './host.ts';
import type { CutPlan } from './cut-plan.ts';
import type { CutVolume } from './record.ts';

export interface CutContext extends PodsContext {
  readonly namespace: string;
  /** Names what is on the host. */
  readonly run: string;
  readonly plan: CutPlan;
  readonly say: (line: string) => void;
}

const steadyLines = 40;
/** A writer lives on after the heal, also one that began while others were waited for. */
const afterHealMs = 180_000 + startMs;
/**
 * A node that is back lets go of what it held; by then the attacher asks a driver that refuses each five
 * minutes, and Kubernetes and its kubelets each two.
 */
export const handOverMs = 480_000;

/** Where a volume's pods are, and how they write. */
export function templateOf(
  { namespace, plan }: Pick<CutContext, 'namespace' | 'plan'>,
  storageClass: string,
): ObjectTemplate {
  const { nodes, volumeMode, size, image, healAfterMs, writeEveryMs, remedy } = plan;
  const asked = { nodes, volumeMode, size, image, storageClass, trials: 1 };
  return {
    ...{ namespace, program: writerProgram(), owner: ownerNow() },
    plan: { ...trialPlanOf({ ...asked, horizonMs: healAfterMs + afterHealMs }), writeEveryMs },
    // A pod that may take its time stays Terminating while its node is silent, and holds its volume.
    ...(remedy === 'eviction' && { writerGraceS: 0 }),
  };
}

type Draft = { -readonly [K in keyof CutVolume]: CutVolume[K] };

export class VolumeUnderCut {
  readonly storageClass: string;
  readonly #context: CutContext;
  readonly #draft: Draft;
  readonly #pods: VolumePods;

  constructor(context: CutContext, name: string, storageClass: string) {
    this.#context = context;
    this.storageClass = storageClass;
    this.#draft = {
      // As with a trial whose next pod comes while the first one holds the volume.
      ...{ name, storageClass, variant: 'contested', claim: name, attachments: [], events: [] },
      ...{ writerJournal: emptyJournal, nextJournal: emptyJournal },
    };
    this.#pods = new VolumePods(context, templateOf(context, storageClass), this.#draft);
  }

  get writerPod(): string {
    return this.#pods.pod('writer');
  }

  /** Why nothing can be seen of it; the others go on. */
  get ended(): string | undefined {
    return this.#draft.ended;
  }

  /** Throws as `PodsContext`'s signal alone; what else goes wrong is its end. */
  async start(): Promise<void> {
    try {
      await this.#startWriter();
    } catch (error) {
      this.#context.signal.throwIfAborted();
      this.#draft.ended = whyOf(error);
    }
  }

  async #startWriter(): Promise<void> {
    const folder = journalFolder(this.#context.run);
    Object.assign(this.#draft, await this.#pods.startWriter(folder));
    await this.#pods.steady(
      (lines) => lines.length >= steadyLines,
      `${this.writerPod} writes steadily`,
    );
  }

  /** While its node is away: nobody tells the pod, and nothing waits for it. */
  async forceDelete(): Promise<void> {
    await this.#pods.forceDelete();
  }

  async startNext(remedyMs: number): Promise<void> {
    this.#draft.deleteAskedMs = remedyMs;
    await this.#pods.create('next');
    const timeoutMs = this.#context.plan.healAfterMs + afterHealMs + handOverMs;
    void this.#pods.running('next', timeoutMs).catch(() => undefined);
  }

  get isHandedOver(): boolean {
    return this.#context.view.pod(this.#pods.pod('next'))?.seen.runningMs !== undefined;
  }

  /** Once the first node is back and has let go: any mode then gives the volume to the next pod. */
  async handOver(): Promise<void> {
    const pod = this.#pods.pod('next');
    try {
      const what = `the pod ${pod} runs, with the first one gone`;
      await this.#context.view.until({ what, timeoutMs: handOverMs }, () => {
        return this.isHandedOver || (this.#pods.lastEvent(pod) ?? 'no event yet');
      });
    } catch (error) {
      this.#context.signal.throwIfAborted();
      this.#draft.readBack = whyOf(error);
    }
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

/** Resolves to those whose writers write. Throws InfrastructureError `CUT_NO_WRITER` where none does. */
export async function startWriters(
  volumes: readonly VolumeUnderCut[],
  say: (line: string) => void,
): Promise<readonly VolumeUnderCut[]> {
  await Promise.all(volumes.map((volume) => volume.start()));
  const failed = volumes.filter(({ ended }) => ended !== undefined);
  for (const { storageClass, ended } of failed) say(`no writer for ${storageClass}: ${ended}`);
  if (failed.length < volumes.length) return volumes.filter((each) => !failed.includes(each));
  throw new InfrastructureError('CUT_NO_WRITER', `nothing was cut: ${failed[0]?.ended}`, {
    hint: 'no class has a writer; --size gives larger volumes, --image another image',
  });
}
