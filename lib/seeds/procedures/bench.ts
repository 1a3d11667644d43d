/**
 * What a procedure works on: a real cluster, observed as in any run, on which it makes small pods
 * with volumes. All of them bear one label and are gone afterwards, also when it fails.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1Pod } from '@kubernetes/client-node';
import type { RunRecorder } from '../../history/recorder.ts';
import type { Cluster } from '../../cluster/kind/cluster.ts';
import * as engine from '../../engine/commands.ts';
import { run } from '../../engine/run.ts';
import { letGoCalls } from '../../cluster/kind/disk/disk-tool.ts';
import type { KubeClients } from '../../cluster/kind/kube.ts';
import { waitFor } from '../../cluster/kind/wait.ts';
import { ControllerManager } from './controller-manager.ts';
import { podObject, type PodChoice } from './pod.ts';
import { removeObjects } from './remove.ts';
import { makeVolume, type SeedVolume, type VolumeChoice } from './volume.ts';

export const namespace = 'default';

export interface BenchOptions {
  readonly cluster: Cluster;
  readonly clients: KubeClients;
  /** With `sleep` and `sh`, and in the nodes already. */
  readonly image: string;
  readonly recorder: RunRecorder;
  /** Begins the names of all that is made. */
  readonly runId: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

export class Bench implements AsyncDisposable {
  readonly cluster: Cluster;
  readonly clients: KubeClients;
  readonly controllerManager: ControllerManager;
  readonly signal: AbortSignal;
  readonly #options: BenchOptions;
  readonly #volumes: SeedVolume[] = [];

  constructor(options: BenchOptions) {
    this.#options = options;
    this.cluster = options.cluster;
    this.clients = options.clients;
    this.signal = options.signal;
    this.controllerManager = new ControllerManager(options.cluster.controlPlane);
  }

  /** The worker that most procedures work on, and the other one. */
  get nodes(): readonly [string, string] {
    const [first = '', second = ''] = this.cluster.nodes;
    return [first, second];
  }

  /** Puts what was seen on record; the answer is read from it. */
  note(name: string, data: Readonly<Record<string, unknown>>, node?: string): void {
    const where = node === undefined ? {} : { node };
    this.#options.recorder.record({ type: 'observation', source: 'seed', name, ...where, data });
    this.#options.say(`${name} ${JSON.stringify(data)}`.slice(0, 200));
  }

  pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.signal });
  }

  /** A volume with its claim, bound to each other. */
  async volume(name: string, choice: VolumeChoice = {}): Promise<SeedVolume> {
    const full = this.named(name);
    const volume = await makeVolume(this.cluster.lab, this.clients, full, choice);
    this.#volumes.push(volume);
    // Such a claim waits for its first pod.
    if (choice.storageClass !== undefined) return volume;
    const look = async (): Promise<true | string> => {
      const { status } = await this.clients.core.readNamespacedPersistentVolumeClaim({
        name: full,
        namespace,
      });
      return status?.phase === 'Bound' || `it is ${status?.phase ?? 'not there'}`;
    };
    await this.wait(`the claim ${full} is Bound`, look, 30_000);
    return volume;
  }

  /** Makes a pod and does not wait for it. */
  async pod(name: string, choice: PodChoice = {}): Promise<string> {
    const full = this.named(name);
    const body = podObject(full, this.#options.image, choice);
    await this.clients.core.createNamespacedPod({ namespace, body });
    return full;
  }

  readPod(name: string): Promise<V1Pod> {
    return this.clients.core.readNamespacedPod({ name, namespace });
  }

  async running(pod: string, timeoutMs = 60_000): Promise<void> {
    const look = async (): Promise<true | string> => {
      const { status } = await this.readPod(pod);
      return status?.phase === 'Running' || `it is ${status?.phase ?? 'unknown'}`;
    };
    await this.wait(`the pod ${pod} runs`, look, timeoutMs);
  }

  async delete(pod: string, gracePeriodSeconds?: number): Promise<void> {
    const body = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
    await this.clients.core.deleteNamespacedPod({ name: pod, namespace, body });
  }

  async podGone(pod: string, timeoutMs = 60_000): Promise<void> {
    const look = async (): Promise<true | string> => {
      const { items } = await this.clients.core.listNamespacedPod({ namespace });
      return items.every(({ metadata }) => metadata?.name !== pod) || 'it is still there';
    };
    await this.wait(`the pod ${pod} is gone`, look, timeoutMs);
  }

  /** VolumeAttachments of this volume, by node. */
  async attachments({
    name,
  }: SeedVolume): Promise<{ name: string; node: string; attached: boolean }[]> {
    const { items } = await this.clients.storage.listVolumeAttachment();
    return items
      .filter(({ spec }) => spec.source.persistentVolumeName === name)
      .map(({ metadata, spec, status }) => ({
        name: metadata?.name ?? '',
        node: spec.nodeName,
        attached: status?.attached ?? false,
      }));
  }

  async detached(volume: SeedVolume, timeoutMs = 60_000): Promise<void> {
    await this.wait(
      `${volume.name} is attached to no node`,
      async () => (await this.attachments(volume)).length === 0 || 'it is attached',
      timeoutMs,
    );
  }

  /** Messages of the pod's events with that reason. */
  async events(pod: string, reason: string): Promise<string[]> {
    const { items } = await this.clients.core.listNamespacedEvent({
      namespace,
      fieldSelector: `involvedObject.name=${pod}`,
    });
    return items.filter((event) => event.reason === reason).map(({ message }) => message ?? '');
  }

  /** Whether the node still runs a container of that pod, whatever the API says. */
  async containersRunning(node: string, pod: string): Promise<boolean> {
    const script =
      'for each in /proc/[0-9]*/environ; do tr "\\0" "\\n" < "$each"; done 2>/dev/null';
    const said = await run(engine.shell(node, script));
    return said.split('\n').includes(`HOSTNAME=${pod}`);
  }

  wait(what: string, look: () => Promise<true | string>, timeoutMs: number): Promise<true> {
    return waitFor({ what, timeoutMs, signal: this.signal }, look);
  }

  /** Of an object of this run. */
  named(name: string): string {
    return `seed-${this.#options.runId}-${name}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await letGoCalls(this.cluster.lab);
    await this.controllerManager.start();
    for (const node of this.cluster.nodes) await this.cluster.machine(node).mend();
    await removeObjects(this.clients, this.cluster.lab, this.#volumes);
  }
}
