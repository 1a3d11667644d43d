/**
 * What a procedure works with: small pods and volumes on a cluster, waits for what becomes of them,
 * and notes of what it saw.
 */
import type { V1PersistentVolume, V1PersistentVolumeClaim, V1Pod } from '@kubernetes/client-node';
import type { z } from 'zod';
import { diskTool, procedures } from '../../../lib/kind/index.ts';
import { apply, orMissing, waitFor, InfrastructureError } from '../../../lib/core/index.ts';
import {
  bytesOf,
  claimObject,
  podObject,
  volumeObject,
  type ProcedurePodChoice,
  type VolumeChoice,
} from './objects.ts';
import type { ProcedureTestbed } from './testbed.ts';
import { source, type attachment, type Note, type Noted } from './notes.ts';
import type { TestbedOptions } from '../../../lib/run/index.ts';

const { namespace } = procedures;

/** The run's id begins the names of all that is made. */
export interface BenchOptions extends Pick<TestbedOptions, 'recorder' | 'runId' | 'signal'> {
  readonly testbed: ProcedureTestbed;
  readonly say: (line: string) => void;
}

/** Objects of the API that go through phases. */
type Phased = 'pod' | 'claim' | 'volume';

export class Bench {
  readonly testbed: ProcedureTestbed;
  readonly #options: BenchOptions;

  constructor(options: BenchOptions) {
    this.#options = options;
    this.testbed = options.testbed;
  }

  /** The worker that most procedures work on, and the other one. */
  get nodes(): readonly [string, string] {
    const [first = '', second = ''] = this.testbed.nodes;
    return [first, second];
  }

  /** Puts what was seen on record; the answer is read from it. */
  note<N extends Note>({ name }: N, data: Noted<N>, node?: string): void {
    const { recorder, say } = this.#options;
    const where = node === undefined ? {} : { node };
    recorder.record({ type: 'note', source, name, ...where, data });
    say(`${name} ${JSON.stringify(data)}`.slice(0, 200));
  }

  pause(ms: number): Promise<void> {
    return this.testbed.clock.sleep(ms, this.#options.signal);
  }

  /** Names it as this procedure's. */
  named(name: string): string {
    return `${procedures.volumePrefix}${this.#options.runId}-${name}`;
  }

  /** A volume with its claim, bound to each other. Resolves to the name of both. */
  async volume(name: string, choice: VolumeChoice = {}): Promise<string> {
    const { cluster, clients } = this.testbed;
    const { disk: mode = 'unfenced', storageClass } = choice;
    const volume = this.named(name);
    await diskTool(cluster.lab, 'create-volume', { volume, 'size-bytes': bytesOf(choice), mode });
    // With a class the first pod decides.
    const bound = storageClass === undefined ? volume : undefined;
    await apply(clients, [volumeObject(volume, choice, bound), claimObject(volume, choice, bound)]);
    if (bound !== undefined) await this.until('claim', volume, 'Bound');
    return volume;
  }

  /** Makes a pod and does not wait for it. */
  async pod(name: string, choice: ProcedurePodChoice = {}): Promise<string> {
    const { clients, images } = this.testbed;
    const body = podObject(this.named(name), images.database, choice);
    await clients.core.createNamespacedPod({ namespace, body });
    return this.named(name);
  }

  /** A pod that runs with a volume of its own. Resolves to the name of both. */
  async podOnVolume(name: string, node: string, choice: VolumeChoice = {}): Promise<string> {
    const volume = await this.volume(name, choice);
    return this.running(await this.pod(name, { volume, node }));
  }

  async running(pod: string, timeoutMs?: number): Promise<string> {
    await this.until('pod', pod, 'Running', timeoutMs);
    return pod;
  }

  async phase(kind: Phased, name: string): Promise<string> {
    const { status } = await this.#read(kind, name);
    return status?.phase ?? 'none';
  }

  #read(kind: Phased, name: string): Promise<V1Pod | V1PersistentVolumeClaim | V1PersistentVolume> {
    const { core } = this.testbed.clients;
    if (kind === 'volume') return core.readPersistentVolume({ name });
    return kind === 'pod'
      ? core.readNamespacedPod({ name, namespace })
      : core.readNamespacedPersistentVolumeClaim({ name, namespace });
  }

  async until(kind: Phased, name: string, phase: string, timeoutMs?: number): Promise<void> {
    await this.wait(
      `the ${kind} ${name} is ${phase}`,
      async () => {
        const now = await this.phase(kind, name);
        return now === phase || `it is ${now}`;
      },
      timeoutMs,
    );
  }

  /** Default: its own grace period. */
  async delete(pod: string, gracePeriodSeconds?: number): Promise<void> {
    const body = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    await this.testbed.clients.core.deleteNamespacedPod({ name: pod, namespace, body });
  }

  /** Deletes it, and resolves once its object is gone. */
  async remove(pod: string, gracePeriodSeconds?: number): Promise<void> {
    const { core } = this.testbed.clients;
    await this.delete(pod, gracePeriodSeconds);
    await this.wait(`the pod ${pod} is gone`, async () => {
      const found = await orMissing(core.readNamespacedPod({ name: pod, namespace }));
      return found === undefined || 'it is still there';
    });
  }

  /** VolumeAttachments of this volume. */
  async attachments(volume: string): Promise<z.output<typeof attachment>[]> {
    const { items } = await this.testbed.clients.storage.listVolumeAttachment();
    return items
      .filter(({ spec }) => spec.source.persistentVolumeName === volume)
      .map(({ metadata, spec, status }) => ({
        name: metadata?.name ?? '',
        node: spec.nodeName,
        attached: status?.attached ?? false,
      }));
  }

  async detached(volume: string, timeoutMs?: number): Promise<void> {
    const look = async (): Promise<true | string> =>
      (await this.attachments(volume)).length === 0 || 'it is attached';
    await this.wait(`${volume} is attached to no node`, look, timeoutMs);
  }

  /** Messages of the pod's events with that reason. */
  async events(pod: string, reason: string): Promise<string[]> {
    const fieldSelector = `involvedObject.name=${pod},reason=${reason}`;
    const { items } = await this.testbed.clients.core.listNamespacedEvent({
      ...{ namespace, fieldSelector },
    });
    return items.map(({ message }) => message ?? '');
  }

  /** How long that took, one digit. `sinceMs`: counted from then instead. */
  async seconds(
    work: () => Promise<unknown>,
    sinceMs = this.testbed.clock.nowMs(),
  ): Promise<number> {
    await work();
    return Math.round((this.testbed.clock.nowMs() - sinceMs) / 100) / 10;
  }

  /** False where a wait ended in vain; rejects as it does otherwise. */
  async inTime(waiting: Promise<unknown>): Promise<boolean> {
    try {
      await waiting;
      return true;
    } catch (error) {
      if (error instanceof InfrastructureError && error.code === 'TIMED_OUT') return false;
      throw error;
    }
  }

  /** Waits as `waitFor` does; 60 s by default. */
  wait(what: string, look: () => Promise<true | string>, timeoutMs = 60_000): Promise<true> {
    return waitFor({ what, timeoutMs, signal: this.#options.signal }, look);
  }
}
