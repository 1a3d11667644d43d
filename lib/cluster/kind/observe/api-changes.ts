/** Turns whole API objects into the changes that matter: each is recorded once, when it happens. */
import type { V1Node, V1ObjectMeta, V1Pod, V1VolumeAttachment } from '@kubernetes/client-node';
import { observed, type ObservedName } from '../../../history/observations.ts';
import type { Recorder } from '../../port.ts';
import { isReady } from '../kube.ts';

/** Remembers the last value under a key and tells whether a new one differs. */
class Memory {
  readonly #values = new Map<string, string>();

  forget(key: string): void {
    this.#values.delete(key);
  }

  changed(key: string, value: unknown): boolean {
    const text = JSON.stringify(value) ?? '';
    if (this.#values.get(key) === text) return false;
    this.#values.set(key, text);
    return true;
  }
}

abstract class Watcher {
  readonly #recorder: Recorder;
  protected readonly memory = new Memory();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  protected say(
    name: ObservedName,
    node: string | undefined,
    data: Readonly<Record<string, unknown>>,
  ): void {
    const where = node === undefined ? {} : { node };
    this.#recorder.record({ type: 'observation', source: 'api', name, ...where, data });
  }
}

export class NodeWatcher extends Watcher {
  readonly #own: readonly string[] | undefined;

  /** `own`: of other nodes it tells only whether they are Ready, on which a zone's state depends. */
  constructor(recorder: Recorder, own?: readonly string[]) {
    super(recorder);
    this.#own = own;
  }

  see({ metadata, spec, status }: V1Node): void {
    const node = metadata?.name ?? '?';
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    const readiness = { status: ready?.status, reason: ready?.reason };
    if (this.memory.changed(`${node} ready`, readiness)) {
      this.say(observed.nodeReady, node, readiness);
    }
    if (this.#own?.includes(node) === false) return;
    const taints = (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).toSorted();
    if (this.memory.changed(`${node} taints`, taints))
      this.say(observed.nodeTaints, node, { taints });
    const attached = (status?.volumesAttached ?? []).map(({ name }) => name).toSorted();
    if (this.memory.changed(`${node} attached`, attached)) {
      this.say(observed.volumesAttached, node, { volumes: attached });
    }
    const inUse = (status?.volumesInUse ?? []).toSorted();
    if (this.memory.changed(`${node} in use`, inUse)) {
      this.say(observed.volumesInUse, node, { volumes: inUse });
    }
  }

  gone({ metadata }: V1Node): void {
    const node = metadata?.name ?? '?';
    // Whoever makes it anew makes another one.
    for (const about of ['ready', 'taints', 'attached', 'in use'])
      this.memory.forget(`${node} ${about}`);
    this.say(observed.nodeGone, node, {});
  }
}

export class PodWatcher extends Watcher {
  see({ metadata, spec, status }: V1Pod): void {
    const uid = metadata?.uid ?? '?';
    const pod = metadata?.name;
    const node = spec?.nodeName;
    const about = { pod, uid };
    if (this.memory.changed(`${uid} created`, true)) this.say(observed.podCreated, node, about);
    if (node !== undefined && this.memory.changed(`${uid} node`, node)) {
      this.say(observed.podScheduled, node, about);
    }
    if (this.memory.changed(`${uid} phase`, status?.phase)) {
      this.say(observed.podPhase, node, { ...about, phase: status?.phase });
    }
    const ip = status?.podIP;
    if (status?.phase === 'Running' && ip !== undefined && this.memory.changed(`${uid} ip`, ip)) {
      this.say(observed.podRunning, node, { ...about, ip });
    }
    const ready = isReady(status);
    if (this.memory.changed(`${uid} ready`, ready)) {
      this.say(observed.podReady, node, { ...about, ready });
    }
    const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    if (disruption !== undefined && this.memory.changed(`${uid} disruption`, disruption.reason)) {
      const { reason, message } = disruption;
      this.say(observed.podDisruption, node, { ...about, reason, message });
    }
    if (metadata?.deletionTimestamp !== undefined && this.memory.changed(`${uid} deleting`, true)) {
      const { deletionGracePeriodSeconds: gracePeriodS, deletionTimestamp } = metadata;
      const deletionAt = timeOf(deletionTimestamp).toISOString();
      const managers = managersOf(metadata);
      this.say(observed.podTerminating, node, { ...about, gracePeriodS, deletionAt, managers });
    }
  }

  gone({ metadata, spec }: V1Pod): void {
    const { name, uid, deletionGracePeriodSeconds: gracePeriodS } = metadata ?? {};
    const managers = managersOf(metadata);
    this.say(observed.podGone, spec?.nodeName, { pod: name, uid, gracePeriodS, managers });
  }
}

/** A watch hands on the API's text where a list has made a Date of it, whatever the types say. */
const timeOf = (time: Date | undefined): Date => new Date(time ?? 0);

/** Who wrote the object, newest first, as `manager/subresource`. */
function managersOf(metadata: V1ObjectMeta | undefined): string[] {
  return (metadata?.managedFields ?? [])
    .toSorted((a, b) => Number(timeOf(b.time)) - Number(timeOf(a.time)))
    .map(({ manager, subresource }) => [manager, subresource].filter(Boolean).join('/'));
}

export class AttachmentWatcher extends Watcher {
  see(attachment: V1VolumeAttachment): void {
    const { about, key } = describe(attachment);
    const { metadata, spec, status } = attachment;
    const node = spec.nodeName;
    if (this.memory.changed(`${key} created`, true)) {
      this.say(observed.attachmentCreated, node, about);
    }
    if (status?.attached === true && this.memory.changed(`${key} attached`, true)) {
      this.say(observed.attachmentAttached, node, about);
    }
    if (metadata?.deletionTimestamp !== undefined && this.memory.changed(`${key} deleting`, true)) {
      this.say(observed.attachmentDeleting, node, about);
    }
  }

  gone(attachment: V1VolumeAttachment): void {
    this.say(observed.attachmentGone, attachment.spec.nodeName, describe(attachment).about);
  }
}

function describe({ metadata, spec }: V1VolumeAttachment): {
  readonly about: Readonly<Record<string, unknown>>;
  readonly key: string;
} {
  const volume = spec.source.persistentVolumeName;
  return { about: { attachment: metadata?.name, volume }, key: metadata?.uid ?? '?' };
}
