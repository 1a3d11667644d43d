/** Watches one attachment by its name, of which Kubernetes makes a new one after each end. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1VolumeAttachment } from '@kubernetes/client-node';
import { orMissing } from '../../kube.ts';
import type { ProbeClients } from '../clients.ts';
import type { AttachmentSeen } from './record.ts';
import { nowMs } from './view.ts';

/** While something is about to change, and else. */
const closeMs = 250;
const calmMs = 500;
/** After a change was asked for. */
const closeForMs = 15_000;

export class AttachmentWatch {
  readonly #clients: ProbeClients;
  readonly #signal: AbortSignal;
  readonly name: string;
  #closeUntilMs = 0;
  #seen: AttachmentSeen[] = [];
  /** The last look that found none began then. */
  #absentMs = 0;
  /** Ends of those that were seen: until when each was there, and when it was first seen to be gone. */
  #ends = new Map<string, { readonly thereUntilMs: number; readonly goneMs: number }>();

  constructor(clients: ProbeClients, name: string, signal: AbortSignal) {
    this.#clients = clients;
    this.name = name;
    this.#signal = signal;
  }

  get seen(): readonly AttachmentSeen[] {
    return this.#seen;
  }

  endOf(uid: string): { readonly thereUntilMs: number; readonly goneMs: number } | undefined {
    return this.#ends.get(uid);
  }

  /** Until the signal comes. Never throws: a look that fails is one that was not made. */
  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      await this.look().catch(() => undefined);
      const everyMs = nowMs() < this.#closeUntilMs ? closeMs : calmMs;
      await sleep(everyMs, undefined, { signal: this.#signal }).catch(() => undefined);
    }
  }

  /** The object as it is now. Throws as the API does. */
  async look(): Promise<V1VolumeAttachment | undefined> {
    const { storage } = this.#clients;
    const askedMs = nowMs();
    const found = await orMissing(storage.readVolumeAttachment({ name: this.name }));
    const atMs = nowMs();
    const last = this.#seen.at(-1);
    const isSame = found !== undefined && last?.uid === found.metadata?.uid;
    if (last !== undefined && !isSame && !this.#ends.has(last.uid)) {
      this.#ends.set(last.uid, { thereUntilMs: last.lastSeenMs, goneMs: atMs });
    }
    if (found === undefined) {
      this.#absentMs = askedMs;
      return undefined;
    }
    const before = isSame ? last : undefined;
    // It was there when it was asked for, at the earliest.
    const missed = before === undefined && this.#absentMs > 0 ? { waitedMs: this.#absentMs } : {};
    const seen = { ...missed, ...noted(before, found, atMs, askedMs), lastSeenMs: askedMs };
    this.#seen = [...this.#seen.filter(({ uid }) => uid !== seen.uid), seen];
    return found;
  }

  /** This very one and no later one. Throws as the API does. */
  async remove(uid: string): Promise<{ readonly askedMs: number; readonly answeredMs: number }> {
    const askedMs = nowMs();
    this.#closeUntilMs = askedMs + closeForMs;
    const body = { preconditions: { uid } };
    await this.#clients.storage.deleteVolumeAttachment({ name: this.name, body });
    return { askedMs, answeredMs: nowMs() };
  }
}

function noted(
  before: AttachmentSeen | undefined,
  { metadata, status }: V1VolumeAttachment,
  atMs: number,
  askedMs: number,
): AttachmentSeen {
  const { attachError, detachError } = status ?? {};
  const seen = before ?? { uid: metadata?.uid ?? '', firstSeenMs: atMs, lastSeenMs: atMs };
  return {
    ...seen,
    ...(status?.attached === true && seen.attachedMs === undefined ? { attachedMs: atMs } : {}),
    ...(status?.attached === true || seen.attachedMs !== undefined ? {} : { waitedMs: askedMs }),
    ...(metadata?.deletionTimestamp === undefined
      ? { unaskedMs: askedMs }
      : { deletingMs: seen.deletingMs ?? atMs }),
    ...(attachError?.message === undefined ? {} : { attachError: attachError.message }),
    ...(detachError?.message === undefined ? {} : { detachError: detachError.message }),
  };
}
