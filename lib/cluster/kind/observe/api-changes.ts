/** Turns whole API objects into the changes that matter: each is recorded once, when it happens. */
import type { V1Node, V1ObjectMeta, V1Pod, V1VolumeAttachment } from '@kubernetes/client-node';
import { observed, type ObservedName } from '../../../history/observations.ts';
import type { Recorder } from '../../../history/port.ts';
import { isReady } from '../../../kube.ts';

type Data = Readonly<Record<string, unknown>>;

abstract class ChangeRecorder {
  readonly #recorder: Recorder;
  /** What was told last, by its key. */
  readonly #told = new Map<string, string>();

  constructor(recorder: Recorder) {
    this.#recorder = recorder;
  }

  protected say(name: ObservedName, node: string | undefined, data: Data): void {
    const where = node === undefined ? {} : { node };
    this.#recorder.record({ type: 'observation', source: 'api', name, ...where, data });
  }

  /** Says it where the value under this key is another than the last. */
  protected sayNew(
    [key, value]: readonly [key: string, value: unknown],
    ...said: readonly [name: ObservedName, node: string | undefined, data: Data]
  ): void {
    const text = JSON.stringify(value) ?? '';
    if (this.#told.get(key) === text) return;
    this.#told.set(key, text);
    this.say(...said);
  }

  protected forget(key: string): void {
    this.#told.delete(key);
  }
}

export class NodeWatcher extends ChangeRecorder {
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
    this.sayNew([`${node} ready`, readiness], observed.nodeReady, node, readiness);
    if (this.#own?.includes(node) === false) return;
    const taints = (spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).toSorted();
    this.sayNew([`${node} taints`, taints], observed.nodeTaints, node, { taints });
    const attached = {
      volumes: (status?.volumesAttached ?? []).map(({ name }) => name).toSorted(),
    };
    this.sayNew([`${node} attached`, attached], observed.volumesAttached, node, attached);
    const inUse = { volumes: (status?.volumesInUse ?? []).toSorted() };
    this.sayNew([`${node} in use`, inUse], observed.volumesInUse, node, inUse);
  }

  gone({ metadata }: V1Node): void {
    const node = metadata?.name ?? '?';
    // Whoever makes it anew makes another one.
    for (const about of ['ready', 'taints', 'attached', 'in use']) this.forget(`${node} ${about}`);
    this.say(observed.nodeGone, node, {});
  }
}

export class PodWatcher extends ChangeRecorder {
  see({ metadata, spec, status }: V1Pod): void {
    const uid = metadata?.uid ?? '?';
    const pod = metadata?.name;
    const node = spec?.nodeName;
    const about = { pod, uid };
    const { phase, podIP: ip } = status ?? {};
    this.sayNew([`${uid} created`, true], observed.podCreated, node, about);
    if (node !== undefined) this.sayNew([`${uid} node`, node], observed.podScheduled, node, about);
    this.sayNew([`${uid} phase`, phase], observed.podPhase, node, { ...about, phase });
    if (phase === 'Running' && ip !== undefined) {
      this.sayNew([`${uid} ip`, ip], observed.podRunning, node, { ...about, ip });
    }
    const ready = isReady(status);
    this.sayNew([`${uid} ready`, ready], observed.podReady, node, { ...about, ready });
    const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    if (disruption !== undefined) {
      const { reason, message } = disruption;
      const data = { ...about, reason, message };
      this.sayNew([`${uid} disruption`, reason], observed.podDisruption, node, data);
    }
    if (metadata?.deletionTimestamp !== undefined) {
      const { deletionGracePeriodSeconds: gracePeriodS, deletionTimestamp } = metadata;
      const deletionAt = timeOf(deletionTimestamp).toISOString();
      const data = { ...about, gracePeriodS, deletionAt, managers: managersOf(metadata) };
      this.sayNew([`${uid} deleting`, true], observed.podTerminating, node, data);
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
const managersOf = (metadata: V1ObjectMeta | undefined): string[] =>
  (metadata?.managedFields ?? [])
    .toSorted((a, b) => Number(timeOf(b.time)) - Number(timeOf(a.time)))
    .map(({ manager, subresource }) => [manager, subresource].filter(Boolean).join('/'));

export class AttachmentWatcher extends ChangeRecorder {
  see(attachment: V1VolumeAttachment): void {
    const { about, key } = describe(attachment);
    const { metadata, spec, status } = attachment;
    const node = spec.nodeName;
    this.sayNew([`${key} created`, true], observed.attachmentCreated, node, about);
    if (status?.attached === true) {
      this.sayNew([`${key} attached`, true], observed.attachmentAttached, node, about);
    }
    if (metadata?.deletionTimestamp !== undefined) {
      this.sayNew([`${key} deleting`, true], observed.attachmentDeleting, node, about);
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
